# SPDX-License-Identifier: Apache-2.0
"""compare.py ENGINE_JOBS [FIRST_SEED COUNT | --recorded EVENTS]: runs jobs through the engine and through the
reference interpreter and compares every number. Prints what it saw; exit code 1 on a difference."""

import json
import subprocess
import sys
from collections import Counter

from reference import (
    Job,
    Stuck,
    iteration_ends,
    link_durations,
    own_duration,
    replay,
    time_split,
)


RECORDED_JOBS = 4  # as engine_jobs makes of one recording


class Difference(Exception):
    pass


def expect(what, reference, engine):
    if reference != engine:
        raise Difference(f"{what}: reference {reference}, engine {engine}")


def check_links(job, links):
    for number, cls in enumerate(job.classes):
        nodes, parts = link_durations(cls, links)
        for node, duration in nodes.items():
            expect(
                f"duration of class {number}, node {node}",
                duration,
                cls["nodes"][node]["duration"],
            )
        for (node, place), duration in parts.items():
            engine = cls["nodes"][node]["parts"][place]["duration"]
            expect(f"duration of class {number}, node {node}, part {place}", duration, engine)


def check_reports(job, times, document):
    ends = iteration_ends(job, times)
    expect("iteration ends", ends, document["iteration_end"])
    first = document["first_iteration"]
    for number, (cls, engine) in enumerate(zip(job.classes, document["classes"])):
        splits = {rank: time_split(job, times, rank) for rank in cls["members"]}
        representative = cls["members"][cls["representative"]]
        expect(f"time split of class {number}", splits[representative], engine["representative"])
        for name, pick in (("least", min), ("most", max)):
            over_members = [
                [pick(splits[rank][i][f] for rank in cls["members"]) for f in range(3)]
                for i in range(job.iterations())
            ]
            expect(f"{name} time split of class {number}", over_members, engine[name])
        for lane in range(len(cls["lanes"])):
            busy = sum(
                own_duration(node)
                for node in cls["nodes"]
                if node["lane"] == lane and node["iteration"] >= first
            )
            expect(f"busy time of class {number}, lane {lane}", [busy] * 3, engine["busy"][lane])
    check_waits(job, times, document)
    check_critical_path(job, times, document, ends)


def arrival_of(job, times, rank, number):
    node = job.nodes(rank)[number]
    lane = job.lanes(rank)[node["lane"]]
    before = [b for b in [lane.index(number) - 1] if b >= 0]
    return node["gap"] + max(
        [0]
        + [times[rank, lane[b]][1] for b in before]
        + [times[rank, d][1] for d in node["dependencies"]]
    )


def check_waits(job, times, document):
    """Every ns between arrival and start is blamed on somebody."""
    total = 0
    for (rank, number), (_, end) in times.items():
        node = job.nodes(rank)[number]
        if node["iteration"] < document["first_iteration"]:
            continue
        arrival = arrival_of(job, times, rank, number)
        if "parts" not in node:
            total += end - node["duration"] - arrival
        elif node["kind"] != "batch":
            total += end - own_duration(node) - arrival
        else:
            return  # parts of a batch wait each on their own
    expect("sum of waits", total, sum(wait[2] for wait in document["waits"]))


def check_critical_path(job, times, document, ends):
    first = min(document["first_iteration"], job.iterations())
    start = ends[first - 1] if first else 0
    expect("window", [start, ends[-1]], document["window"])
    at = start + document["before"]
    for rank, node, begin, end, gap in document["critical_path"]:
        expect("start of a critical segment", at, begin)
        if gap:
            expect("end of a critical gap", arrival_of(job, times, rank, node), end)
        else:
            expect("end of a critical node", times[rank, node][1], end)
        at = end
    expect("end of the critical path", ends[-1], at)
    if first == 0 and document["critical_path"]:
        expect("critical path of a whole run before its first node", 0, document["before"])


def check_clock(job, times, document, seen):
    """The same on a clock, with some ranks outside: of those the engine knows the communications."""
    expect("error on the clock", "", document["clock_error"])
    expect("ends are published in the order of time", True, document["in_order"])
    expect("lateness on a simulated clock", 0, document["late"])
    published = 0
    for rank, engine in enumerate(document["clock_times"]):
        outside = rank in document["outside"]
        for number, node in enumerate(job.nodes(rank)):
            if outside and node["kind"] in ("compute", "transfer"):
                continue
            published += outside
            expect(
                f"(arrival, end) on the clock of rank {rank}, node {number}",
                [arrival_of(job, times, rank, number), times[rank, number][1]],
                engine[2 * number : 2 * number + 2],
            )
    expect("number of published ends", published, document["published"])
    seen["outside"] += len(document["outside"])
    seen["published"] += published


def compare(document, seen):
    job = Job(document["job"])
    if document["links"]:
        check_links(job, document["links"])
        seen["with links"] += 1
    try:
        times = replay(job, document["eager_bytes"])
    except Stuck as stuck:
        if not document["error"]:
            raise Difference(f"reference: {stuck}; engine: no error") from stuck
        if not document["clock_error"]:
            raise Difference(f"reference: {stuck}; on the clock: no error") from stuck
        seen["stuck"] += 1
        return
    if document["error"]:
        raise Difference(f"reference: no error; engine: {document['error']}")
    engine = document["times"]
    for rank in range(job.world_size):
        for number in range(len(job.nodes(rank))):
            expect(
                f"(start, end, arrival) of rank {rank}, node {number}",
                [*times[rank, number], arrival_of(job, times, rank, number)],
                engine[rank][3 * number : 3 * number + 3],
            )
    if not document["damaged"]:
        expect("check of a job that is in order", "", document["check"])
    check_reports(job, times, document)
    check_clock(job, times, document, seen)
    seen["equal"] += 1
    seen["nodes"] += len(times)
    for rank in range(job.world_size):
        for node in job.nodes(rank):
            seen[node["kind"]] += 1
            seen["from any source"] += sum(p["peer"] == -2 for p in node.get("parts", ()))


def documents(stream):
    lines = []
    for line in stream:
        if line == "---\n":
            yield json.loads("".join(lines))
            lines = []
        else:
            lines.append(line)


def main():
    engine_jobs = sys.argv[1]
    first, count = (sys.argv[2], sys.argv[3]) if len(sys.argv) == 4 else ("1", "1000")
    seen = Counter()
    differences = 0
    with subprocess.Popen(
        [engine_jobs, first, count], stdout=subprocess.PIPE, text=True
    ) as process:
        for document in documents(process.stdout):
            seen["jobs"] += 1
            try:
                compare(document, seen)
            except Difference as difference:
                differences += 1
                print(f"seed {document['seed']}: {difference}")
    print(", ".join(f"{name}: {n}" for name, n in sorted(seen.items())))
    recorded = first == "--recorded"
    if process.returncode != 0 or seen["jobs"] != (RECORDED_JOBS if recorded else int(count)):
        print(f"{engine_jobs} ended with {process.returncode} after {seen['jobs']} jobs")
        return 1
    # A comparison that never met a case proves nothing about it.
    cases = ("equal", "with links", "transfer", "published")
    if not recorded:
        cases += ("stuck", "from any source", "batch")
    for case in cases:
        if not seen[case]:
            print(f"no job had the case '{case}'")
            return 1
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
