# SPDX-License-Identifier: Apache-2.0
"""Reads .prism files as docs/prismtrace.md says, independently of Prism's own reader.

    prism_reader.py FILE

prints all of it as JSON: the same that Prism prints of what it reads. Standard library only; sections
that are compressed need the program `zstd`.
"""

import json
import struct
import subprocess
import sys

MASK = (1 << 64) - 1
NONE = 0xFFFFFFFF
P1, P2, P3, P4, P5 = (
    11400714785074694791, 14029467366897019727, 1609587929392839161, 9650029242287828579,
    2870177450012600261)


def rotate(x, n):
    return ((x << n) | (x >> (64 - n))) & MASK


def xxh64(data):
    def step(lane, word):
        return rotate((lane + word * P2) & MASK, 31) * P1 & MASK

    at, size = 0, len(data)
    if size >= 32:
        lanes = [(P1 + P2) & MASK, P2, 0, -P1 & MASK]
        while at + 32 <= size:
            words = struct.unpack_from("<4Q", data, at)
            lanes = [step(lane, word) for lane, word in zip(lanes, words)]
            at += 32
        h = sum(rotate(lane, n) for lane, n in zip(lanes, (1, 7, 12, 18))) & MASK
        for lane in lanes:
            h = ((h ^ step(0, lane)) * P1 + P4) & MASK
    else:
        h = P5
    h = (h + size) & MASK
    while at + 8 <= size:
        h = (rotate(h ^ step(0, struct.unpack_from("<Q", data, at)[0]), 27) * P1 + P4) & MASK
        at += 8
    if at + 4 <= size:
        h = (rotate(h ^ struct.unpack_from("<I", data, at)[0] * P1 & MASK, 23) * P2 + P3) & MASK
        at += 4
    for byte in data[at:]:
        h = rotate(h ^ byte * P5 & MASK, 11) * P1 & MASK
    h = (h ^ h >> 33) * P2 & MASK
    h = (h ^ h >> 29) * P3 & MASK
    return h ^ h >> 32


def unzigzag(number):
    return (number >> 1) ^ -(number & 1)


def index(value):
    return NONE if value == 0 else value - 1


def index_or_minus_one(value):
    return value - 1


class File:
    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        magic, major, _, self.content, _, checksum = struct.unpack_from("<8sHHIQQ", self.data)
        assert magic == b"\x89PRISM\r\n" and checksum == xxh64(self.data[:24]), "no .prism file"
        assert major == 1, "another major version"
        self.sections = {}
        trailer = self.last_trailer()
        while trailer:
            trailer = self.add_block(trailer)

    def block_at(self, trailer):
        """Offset and end of the directory and the trailer before, or None."""
        if trailer < 32 or trailer + 48 > len(self.data):
            return None
        directory, size, checksum, previous, magic, own = struct.unpack_from(
            "<QQQQ8sQ", self.data, trailer)
        if magic != b"\x89PRISME\n" or own != xxh64(self.data[trailer:trailer + 40]):
            return None
        if directory + size != trailer or checksum != xxh64(self.data[directory:trailer]):
            return None
        return directory, trailer, previous

    def last_trailer(self):
        at = len(self.data) - 48
        while self.block_at(at) is None:
            mark = self.data.rfind(b"\x89PRISME\n", 0, at + 32 + 7)
            assert mark >= 32, "no complete directory"
            at = mark - 32
        return at

    def add_block(self, trailer):
        block = self.block_at(trailer)
        assert block, "a damaged block"
        directory, end, previous = block
        for at in range(directory, end, 48):
            kind, codec, a, b, c, offset, stored, raw, checksum = struct.unpack_from(
                "<HHIIIQQQQ", self.data, at)
            self.sections[kind, a, b, c] = (codec, offset, stored, raw, checksum)
        return previous

    def section(self, kind, a=0, b=0, c=0):
        codec, offset, stored, raw, checksum = self.sections[kind, a, b, c]
        content = self.data[offset:offset + stored]
        assert xxh64(content) == checksum, "a damaged section"
        if codec == 1:
            content = subprocess.run(["zstd", "-dcq"], input=content, capture_output=True,
                                     check=True).stdout
        assert codec <= 1 and len(content) == raw
        return Section(content)


class Section:
    def __init__(self, content):
        self.content = content
        self.at = 0

    def take(self, size):
        assert self.at + size <= len(self.content)
        self.at += size
        return self.content[self.at - size:self.at]

    def number(self):
        return struct.unpack("<Q", self.take(8))[0]

    def text(self):
        return self.take(self.number()).decode("utf-8", "replace")

    def column(self, n, meaning=lambda value: value, reference=None):
        rule, width, base = struct.unpack("<BBQ", self.take(10))
        assert rule <= 2 and width <= 8
        rest = [0] * n
        for plane in range(width):
            for i, byte in enumerate(self.take(n)):
                rest[i] |= byte << (8 * plane)
        values, before = [], 0
        for i in range(n):
            if rule == 0:
                value = base + rest[i]
            else:
                value = (reference[i] if rule == 2 else before) + base + unzigzag(rest[i])
            before = value & MASK
            values.append(before)
        return [meaning(value) for value in values]

    def texts(self, n):
        return [self.take(size).decode("utf-8", "replace") for size in self.column(n)]

    def end(self):
        assert self.at == len(self.content), "bytes are left over"


def read_communicators(s):
    n = s.number()
    names, descriptions, backends = s.texts(n), s.texts(n), s.texts(n)
    nth, creation, sizes = s.column(n), s.column(n), s.column(n)
    members = s.column(s.number())
    result = []
    for fields in zip(names, descriptions, backends, nth, creation, sizes):
        result.append([*fields[:5], members[:fields[5]]])
        members = members[fields[5]:]
    assert not members
    return result


def read_structure(s):
    program = {"iterations": s.number()}
    n = s.number()
    program["lanes"] = [list(lane) for lane in zip(s.column(n), s.texts(n))]
    texts = s.texts(s.number())
    n = s.number()
    kinds, dtypes, reductions, lanes = s.column(n), s.column(n), s.column(n), s.column(n)
    slots, steps, roots = s.column(n, index), s.column(n), s.column(n, unzigzag)
    inputs, outputs, part_counts = s.column(n), s.column(n), s.column(n)
    moved, dependency_counts, iterations = s.column(n), s.column(n), s.column(n, index)
    parts = s.number()
    program["parts"] = [
        list(part) for part in zip(s.column(parts), s.column(parts, unzigzag),
                                   s.column(parts, unzigzag), s.column(parts), s.column(parts),
                                   s.column(parts))]
    back = s.column(s.number())
    labels = s.number()
    program["labels"] = [
        list(label) for label in zip(s.column(labels, index), s.column(labels, index),
                                     *(s.column(labels, index_or_minus_one) for _ in range(3)))]
    program["texts"] = texts
    s.end()

    next_sequence, first_part, dependencies, nodes = {}, 0, [], []
    for i in range(n):
        collective = 1 <= kinds[i] <= 9
        sequence = (steps[i] + (next_sequence.get(slots[i], 0) if collective else 0)) & MASK
        if collective:
            next_sequence[slots[i]] = sequence + 1
        nodes.append([
            kinds[i], dtypes[i], reductions[i], lanes[i], slots[i], sequence, roots[i], inputs[i],
            outputs[i], first_part if part_counts[i] else 0, part_counts[i],
            i - moved[i] if moved[i] else NONE, len(dependencies), dependency_counts[i],
            iterations[i]])
        first_part += part_counts[i]
        for _ in range(dependency_counts[i]):
            dependencies.append(i - back[len(dependencies)])
    assert first_part == parts and len(dependencies) == len(back)
    program["nodes"], program["dependencies"] = nodes, dependencies
    return program


def read_program(file, rank, world_size, structure, communicators, own_times=None):
    program = {"rank": rank, "world_size": world_size,
               **read_structure(file.section(2, structure))}
    s = file.section(3, communicators)
    program["communicators"], program["others"] = read_communicators(s), read_communicators(s)
    s.end()
    nodes, parts = len(program["nodes"]), len(program["parts"])
    durations, gaps, part_durations = [0] * nodes, [0] * nodes, [0] * parts
    if own_times is not None:
        s = file.section(4, own_times)
        assert (s.number(), s.number()) == (nodes, parts)
        durations, gaps, part_durations = s.column(nodes), s.column(nodes), s.column(parts)
        s.end()
    for node, duration, gap in zip(program["nodes"], durations, gaps):
        node += [duration, gap]
    for part, duration in zip(program["parts"], part_durations):
        part.append(duration)
    return program


def read_times(s, references):
    columns = []
    for reference in references:
        n, long_count = s.number(), s.number()
        columns.append(s.column(n, reference=reference))
        assert sum(value >= NONE for value in columns[-1]) == long_count
    s.end()
    return columns


def read_sample(file, kind, number):
    s = file.section(7, kind, number)
    sample = {"iteration": s.number(), "repeat": s.number()}
    references = s.column(s.number(), index)
    set_of = s.column(s.number(), index)
    s.end()
    nothing = [None] * 3
    sample["sets"] = [
        read_times(file.section(9, kind, number, i),
                   nothing if r == NONE else read_times(file.section(8, kind, number, r), nothing))
        for i, r in enumerate(references)]
    sample["set_of"] = set_of
    return sample


def read_kind(file, number):
    s = file.section(5, number)
    ranks = s.number()
    n = s.number()
    sizes, representatives = s.column(n), s.column(n)
    structures, communicators, own_times = s.column(n), s.column(n), s.column(n)
    shapes = list(zip(s.column(n), s.column(n), s.column(n)))
    members = s.column(s.number())
    counted = s.column(s.number())
    difference = s.text()
    s.end()
    classes = []
    class_of, index_of = [NONE] * ranks, [NONE] * ranks
    for c in range(n):
        its, members = members[:sizes[c]], members[sizes[c]:]
        program = read_program(file, its[representatives[c]], ranks, structures[c],
                               communicators[c], own_times[c])
        assert shapes[c] == (len(program["nodes"]), len(program["parts"]),
                             len(program["communicators"]))
        classes.append({"members": its, "representative": representatives[c], "program": program})
        for i, rank in enumerate(its):
            class_of[rank], index_of[rank] = c, i
    first_slot = [0]
    for rank in range(ranks):
        slots = len(classes[class_of[rank]]["program"]["communicators"])
        first_slot.append(first_slot[-1] + slots)
    s = file.section(6, number)
    groups = read_communicators(s)
    derived = s.column(len(groups), bool)
    slots = s.column(s.number(), index)
    s.end()
    table, at = [NONE] * first_slot[-1], 0
    for c in classes:
        for slot in range(len(c["program"]["communicators"])):
            for rank in c["members"]:
                table[first_slot[rank] + slot] = slots[at]
                at += 1
    assert at == len(slots)
    samples = []
    while (7, number, len(samples), 0) in file.sections:
        samples.append(read_sample(file, number, len(samples)))
    return {
        "difference": difference, "counted": counted,
        "job": {"world_size": ranks, "classes": classes, "communicators": groups,
                "derived": derived, "class_of": class_of, "index_of": index_of,
                "first_slot": first_slot[:-1], "table": table},
        "samples": samples}


def read_trace(file):
    s = file.section(1)
    trace = {"origin": s.text(), "notes": s.texts(s.number())}
    kinds = s.number()
    trace["times_from"] = s.column(s.number(), index)
    s.end()
    trace["kinds"] = [read_kind(file, k) for k in range(kinds)]
    return trace


def read_spans(s, bases):
    n = s.number()
    starts, lengths = s.column(n, unzigzag), s.column(n, lambda v: v - (v >> 63 << 64))
    spans = []
    for i in range(n):
        start = bases(i, spans) + starts[i]
        spans.append([start, start + lengths[i]])
    return spans


def read_observation(file):
    s = file.section(10)
    observation = {"world_size": s.number(), "notes": s.texts(s.number()), "ranks": []}
    n = s.number()
    heads = list(zip(s.column(n), s.column(n), s.column(n), s.texts(n), s.column(n), s.column(n)))
    s.end()
    for place, (rank, clock, run, source, structure, communicators) in enumerate(heads):
        program = read_program(file, rank, observation["world_size"], structure, communicators)
        lane_of = [node[3] for node in program["nodes"]]
        lane_end, part_of = {}, []
        for i, node in enumerate(program["nodes"]):
            part_of += [i] * node[10]

        def end_on_lane(i, spans):
            if i > 0:
                lane_end[lane_of[i - 1]] = spans[i - 1][1]
            return lane_end.get(lane_of[i], 0)

        s = file.section(11, place)
        nodes = read_spans(s, end_on_lane)
        parts = read_spans(s, lambda i, _: nodes[part_of[i]][0])
        s.end()
        observation["ranks"].append({"clock": clock, "run": run, "source": source,
                                     "program": program, "nodes": nodes, "parts": parts})
    return observation


def read(path):
    file = File(path)
    return {1: read_trace, 2: read_observation}[file.content](file)


if __name__ == "__main__":
    json.dump(read(sys.argv[1]), sys.stdout)
