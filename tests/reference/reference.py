# SPDX-License-Identifier: Apache-2.0
"""The rules of graph and time, slow and obvious, exact in ns.

This is the specification of the replay engine (core/replay) and of the link model
(sdk/include/prism/link/link.hpp): written to be read and checked by eye. A job is what
core/graph/dump.cpp writes.

  job = Job(document["job"])
  times = replay(job, eager_bytes)      # {(rank, node): (start, end)}, or raises Stuck
"""

from collections import defaultdict

ANY_SOURCE = -2
ROOTED = {"broadcast", "scatter", "reduce", "gather"}
COLLECTIVES = ROOTED | {"all_reduce", "all_gather", "reduce_scatter", "all_to_all", "barrier"}
MESSAGES = {"send", "recv", "batch"}


class Stuck(Exception):
    """Some ranks wait for ever, or what meets does not fit."""


class Job:
    """Ranks with their nodes and lanes; what differs between the ranks of a class is resolved."""

    def __init__(self, document):
        self.world_size = document["world_size"]
        self.communicators = document["communicators"]
        self.classes = document["classes"]
        self.communicator_of_slot = document["communicator_of_slot"]
        self.place = {}  # rank -> (class, index in it)
        for number, cls in enumerate(self.classes):
            for index, rank in enumerate(cls["members"]):
                self.place[rank] = (number, index)

    def cls(self, rank):
        return self.classes[self.place[rank][0]]

    def nodes(self, rank):
        return self.cls(rank)["nodes"]

    def lanes(self, rank):
        """Lists of node numbers."""
        lanes = [[] for _ in self.cls(rank)["lanes"]]
        for number, node in enumerate(self.nodes(rank)):
            lanes[node["lane"]].append(number)
        return lanes

    def communicator(self, rank, slot):
        return self.communicator_of_slot[rank][slot]

    def peer(self, rank, part):
        """architecture 5: peer p of the representative (index i of its class), member k of class
        C, is C[(k + j - i) mod |C|] for the rank with index j."""
        cls, j = self.cls(rank), self.place[rank][1]
        p = cls["communicators"][part["communicator"]]["ranks"][part["peer"]]
        number, k = self.place[p]
        members = self.classes[number]["members"]
        return members[(k + j - cls["representative"]) % len(members)]

    def backend(self, rank, part):
        return self.communicators[self.communicator(rank, part["communicator"])]["backend"]

    def iterations(self):
        return max(cls["iterations"] for cls in self.classes)


class Replay:
    def __init__(self, job, eager_bytes):
        self.job = job
        self.eager_bytes = eager_bytes
        self.arrival = {}  # (rank, node) -> time
        self.time = {}  # (rank, node) -> (start, end)
        self.lanes = {rank: job.lanes(rank) for rank in range(job.world_size)}
        self.done = {rank: [0] * len(lanes) for rank, lanes in self.lanes.items()}
        self.find_groups()
        self.find_messages()

    # Who belongs together.

    def find_groups(self):
        """(communicator, sequence) -> {rank: node}"""
        self.group = defaultdict(dict)
        for rank in range(self.job.world_size):
            for number, node in enumerate(self.job.nodes(rank)):
                if node["kind"] in COLLECTIVES:
                    communicator = self.job.communicator(rank, node["communicator"])
                    self.group[communicator, node["sequence"]][rank] = number

    def find_messages(self):
        """The n-th send with a key (communicator, source, destination, tag) belongs to the n-th
        recv with that key. NCCL has no tags. Recvs from any source are matched at replay: their
        mailbox is (communicator, destination, tag)."""
        self.partner = {}  # (rank, node, part) -> (rank, node, part)
        self.any_recvs = defaultdict(list)  # mailbox -> [(rank, node, part)]
        self.sends_to = defaultdict(list)  # mailbox -> the same, of sends
        sends, recvs = defaultdict(list), defaultdict(list)
        for rank in range(self.job.world_size):
            for number, node in enumerate(self.job.nodes(rank)):
                for place, part in enumerate(node.get("parts", ())):
                    me = (rank, number, place)
                    communicator = self.job.communicator(rank, part["communicator"])
                    tag = 0 if self.job.backend(rank, part) == "nccl" else part["tag"]
                    if part["kind"] == "send":
                        peer = self.job.peer(rank, part)
                        sends[communicator, rank, peer, tag].append(me)
                        self.sends_to[communicator, peer, tag].append(me)
                    elif part["peer"] == ANY_SOURCE:
                        self.any_recvs[communicator, rank, tag].append(me)
                    else:
                        recvs[communicator, self.job.peer(rank, part), rank, tag].append(me)
        for (communicator, source, destination, tag), received in recvs.items():
            if (communicator, destination, tag) in self.any_recvs:
                raise Stuck("a rank receives both from any source and from a certain one")
            for send, recv in zip(sends[communicator, source, destination, tag], received):
                self.partner[send], self.partner[recv] = recv, send

    def part(self, me):
        rank, node, place = me
        return self.job.nodes(rank)[node]["parts"][place]

    # When it starts.

    def arrive(self, rank, number):
        """Time at which the node could start if it waited for no other rank; None: not known."""
        node = self.job.nodes(rank)[number]
        lane = self.lanes[rank][node["lane"]]
        before = [lane[i - 1] for i in [lane.index(number)] if i > 0] + node["dependencies"]
        if any((rank, b) not in self.time for b in before):
            return None
        return max([0] + [self.time[rank, b][1] for b in before]) + node["gap"]

    def span(self, rank, number):
        """(start, end) of a node that has arrived; None as long as it must wait."""
        node = self.job.nodes(rank)[number]
        arrival = self.arrival[rank, number]
        if node["kind"] in ("compute", "transfer"):
            return arrival, arrival + node["duration"]
        if node["kind"] in COLLECTIVES:
            start = self.collective_start(rank, node, arrival)
            return None if start is None else (start, start + node["duration"])
        spans = [self.part_span((rank, number, p)) for p in range(len(node["parts"]))]
        if any(s is None for s in spans):
            return None
        if node["kind"] == "batch":
            return arrival, max(end for _, end in spans)
        return spans[0]

    def collective_start(self, rank, node, arrival):
        communicator = self.job.communicator(rank, node["communicator"])
        members = self.job.communicators[communicator]["ranks"]
        nodes = self.group[communicator, node["sequence"]]
        for other, number in nodes.items():
            its = self.job.nodes(other)[number]
            if (other, number) in self.arrival:
                if (its["kind"], its["root"]) != (node["kind"], node["root"]):
                    raise Stuck("the members of a collective disagree")
        arrivals = {m: self.arrival.get((m, nodes.get(m))) for m in members}
        everybody = None if None in arrivals.values() else max(arrivals.values())
        if node["kind"] not in ROOTED:
            return everybody
        root = members[node["root"]]
        if rank == root:
            return arrival if node["kind"] == "broadcast" else everybody
        return None if arrivals[root] is None else max(arrival, arrivals[root])

    def part_span(self, me):
        part = self.part(me)
        arrival = self.arrival[me[:2]]
        if part["kind"] == "send" and self.is_eager(me):
            start = arrival
        else:
            other = self.partner.get(me)
            if other is None or other[:2] not in self.arrival:
                return None
            start = max(arrival, self.arrival[other[:2]])
        return start, start + part["duration"]

    def is_eager(self, me):
        part = self.part(me)
        return self.job.backend(me[0], part) == "nccl" and 0 < part["bytes"] <= self.eager_bytes

    # The clock.

    def run(self):
        while True:
            while self.advance():
                pass
            if not self.match_any_source():
                break
        for rank, lanes in self.lanes.items():
            if self.done[rank] != [len(lane) for lane in lanes]:
                raise Stuck(f"rank {rank} waits for ever")
        self.check_all_met()
        return self.time

    def advance(self):
        """One look at the first unfinished node of every lane; whether anything happened."""
        happened = False
        for rank, lanes in self.lanes.items():
            for number, lane in enumerate(lanes):
                while self.done[rank][number] < len(lane):
                    node = lane[self.done[rank][number]]
                    if (rank, node) not in self.arrival:
                        arrival = self.arrive(rank, node)
                        if arrival is None:
                            break
                        self.arrival[rank, node] = arrival
                        happened = True
                    span = self.span(rank, node)
                    if span is None:
                        break
                    self.time[rank, node] = span
                    self.done[rank][number] += 1
                    happened = True
        return happened

    def match_any_source(self):
        """Nothing else can go on, so no send can arrive before the earliest possible match: that
        one is made. The send is the earliest arrived (ties: lowest source, then program order),
        the recv the earliest arrived (ties: program order); between mailboxes the earliest match
        (ties: lowest destination, communicator, tag)."""
        best = None
        for mailbox, recvs in self.any_recvs.items():
            communicator, destination, tag = mailbox

            def open_ones(parts):
                return [
                    (self.arrival[me[:2]], me)
                    for me in parts
                    if me[:2] in self.arrival and me not in self.partner
                ]

            sends, recvs = open_ones(self.sends_to[mailbox]), open_ones(recvs)
            if sends and recvs:
                send, recv = min(sends), min(recvs)
                when = max(send[0], recv[0])
                candidate = (when, destination, communicator, tag, send[1], recv[1])
                best = candidate if best is None else min(best, candidate)
        if best is None:
            return False
        send, recv = best[4:]
        if any(self.part(send)[field] != self.part(recv)[field] for field in ("bytes", "dtype")):
            raise Stuck("a recv from any source does not fit its message")
        self.partner[send], self.partner[recv] = recv, send
        return True

    def check_all_met(self):
        """Roots of broadcasts and eager senders end alone; the others must come all the same."""
        for (communicator, _), nodes in self.group.items():
            if set(nodes) != set(self.job.communicators[communicator]["ranks"]):
                raise Stuck("a member is missing from a collective")
        for rank in range(self.job.world_size):
            for number, node in enumerate(self.job.nodes(rank)):
                for place in range(len(node.get("parts", ()))):
                    if (rank, number, place) not in self.partner:
                        raise Stuck("a message is never received")


def replay(job, eager_bytes):
    return Replay(job, eager_bytes).run()


# Reports.


def own_duration(node):
    if node["kind"] in MESSAGES:
        return max(part["duration"] for part in node["parts"])
    return node["duration"]


def cpu_lanes(cls):
    return [n for n, name in enumerate(cls["lanes"]) if name.startswith("cpu:")]


def iteration_ends(job, times):
    ends = [0] * job.iterations()
    for (rank, number), (_, end) in times.items():
        node = job.nodes(rank)[number]
        if node["lane"] in cpu_lanes(job.cls(rank)):
            ends[node["iteration"]] = max(ends[node["iteration"]], end)
    for i in range(1, len(ends)):
        ends[i] = max(ends[i], ends[i - 1])
    return ends


def time_split(job, times, rank):
    """[compute, communication, waiting] of the first CPU lane, by iteration. The gap before a node
    belongs to the dependency that ended last (the first of several): while it ran it counts as
    what it is, the rest is waiting."""
    splits = [[0, 0, 0] for _ in range(job.iterations())]
    nodes = job.nodes(rank)

    def category(node):
        return 0 if node["kind"] == "compute" else 1

    before = 0
    for number in job.lanes(rank)[cpu_lanes(job.cls(rank))[0]]:
        node, (_, end) = nodes[number], times[rank, number]
        split = splits[node["iteration"]]
        arrival = before
        cause = None
        for d in node["dependencies"]:
            if nodes[d]["lane"] != node["lane"] and times[rank, d][1] > arrival:
                arrival, cause = times[rank, d][1], d
        if cause is not None:
            ran = min(arrival - before, own_duration(nodes[cause]))
            split[category(nodes[cause])] += ran
            split[2] += arrival - before - ran
        arrival += node["gap"]
        split[0] += node["gap"]
        split[category(node)] += own_duration(node)
        split[2] += end - arrival - own_duration(node)
        before = end
    return splits


# Link model.


def ceil_div(a, b):
    return -(-a // b)


def bytes_time(count, bytes_per_second):
    return ceil_div(count * 10**9, bytes_per_second) if bytes_per_second else 0


def messages_time(link, count, total_bytes):
    """t(m, b): m messages, b bytes in all, none waits for an answer."""
    return (
        link["latency_ns"]
        + count * link["per_message_ns"]
        + bytes_time(total_bytes, link["bandwidth_Bps"])
    )


def message_duration(link, size):
    return messages_time(link, 1, size)


def collective_duration(link, backend, kind, k, given, got):
    """`given` and `got`: bytes that this member contributes and gets; k: group size."""
    if k == 1:
        return 0

    def t(m, b):
        return messages_time(link, m, b)

    def r(b):
        return bytes_time(b, link["reduce_bandwidth_Bps"])

    def c(b):
        return bytes_time(b, link["copy_bandwidth_Bps"])

    def star(is_root, at_root, own):
        return t(k - 1, at_root - at_root // k) if is_root else t(1, own)

    n = max(given, got)
    if kind == "all_to_all":
        return t(k - 1, n - n // k)
    if kind == "scatter":
        return star(given > got, given, got)
    if kind == "gather":
        return star(got > given, got, given)

    if backend == "nccl":
        if kind in ("all_reduce", "barrier"):
            part = ceil_div(4 if kind == "barrier" else n, k)
            return (k - 1) * (2 * t(1, part) + r(part))
        if kind == "reduce_scatter":
            part = ceil_div(given, k)
            return (k - 1) * (t(1, part) + r(part))
        if kind == "all_gather":
            return (k - 1) * t(1, ceil_div(got, k))
        pipelined = (k - 1) * t(1, 0) + bytes_time(n, link["bandwidth_Bps"])
        return pipelined + (r(n) if kind == "reduce" else 0)

    def segments(size):
        return max(2, ceil_div(ceil_div(size, 2**20), k))

    rounds = (k - 1).bit_length()  # ceil(log2 k)
    if kind == "barrier":
        return rounds * t(1, 0)
    if kind == "broadcast":
        return rounds * t(1, n)
    if kind == "all_gather":
        return (k - 1) * t(2, ceil_div(got, k)) + c(given) + c(got) if got else 0
    if kind in ("all_reduce", "reduce_scatter"):
        size = given if kind == "reduce_scatter" else n
        part = ceil_div(size, k)
        ring = (k - 1) * (2 * t(segments(size), part) + r(part)) if size else 0
        return ring + (c(given) if kind == "reduce_scatter" else 0)
    assert kind == "reduce"
    if n == 0:
        return 0
    part = ceil_div(n, k)
    return (k - 1) * (t(segments(n), part) + r(part)) + star(got != 0, n, part)


def link_durations(cls, links):
    """What core/graph/timing.cpp gives the communications of a class: {node: duration} and
    {(node, part): duration}. A Transfer takes the time of the communication it belongs to."""
    nodes, parts = {}, {}
    moved = {node["of"] for node in cls["nodes"] if node["kind"] == "transfer"}
    moving = {}
    for number, node in enumerate(cls["nodes"]):
        if node["kind"] in COLLECTIVES:
            communicator = cls["communicators"][node["communicator"]]
            moving[number] = collective_duration(
                links[communicator["description"]],
                communicator["backend"],
                node["kind"],
                len(communicator["ranks"]),
                node["input_bytes"],
                node["output_bytes"],
            )
            nodes[number] = 0 if number in moved else moving[number]
        elif node["kind"] in MESSAGES:
            moving[number] = 0
            for place, part in enumerate(node["parts"]):
                communicator = cls["communicators"][part["communicator"]]
                duration = message_duration(links[communicator["description"]], part["bytes"])
                moving[number] += duration
                parts[number, place] = 0 if number in moved else duration
        elif node["kind"] == "transfer":
            nodes[number] = moving[node["of"]]
    return nodes, parts
