# SPDX-License-Identifier: Apache-2.0
"""pipeline.py ENGINE_JOBS EVENTS...: the engine on a recorded 1F1B pipeline, one recording per stage,
against the textbook recurrence of 1F1B fed with the measured times: the span from a stage's first forward
to its last backward, and the bubble in it, must agree within 1 %. Communication costs nothing here.

The recurrence knows the schedule and the duration of every forward and backward; of the engine's job it
takes these durations and the moment at which each stage starts its iteration, nothing else."""

import json
import subprocess
import sys

TOLERANCE = 0.01


def schedule(stage, stages, micro_batches):
    warm_up = min(stages - stage - 1, micro_batches)
    ops = ["F"] * warm_up
    for _ in range(micro_batches - warm_up):
        ops += ["F", "B"]
    return ops + ["B"] * warm_up


def events(cls, stage_of_rank, stage, iteration):
    """What the stage's CPU lane does: ("compute", node), ("receive", from a later stage?),
    ("send", to a later stage?), ("other",)."""
    nodes = cls["nodes"]
    after = {}  # CPU node -> communications that it issues
    for number, node in enumerate(nodes):
        if node["lane"] != 0 and node["dependencies"]:
            after.setdefault(node["dependencies"][-1], []).append(number)

    def later(number):
        part = nodes[number]["parts"][0]
        ranks = cls["communicators"][part["communicator"]]["ranks"]
        return stage_of_rank[ranks[part["peer"]]] > stage

    for number, node in enumerate(nodes):
        if node["lane"] != 0 or node["iteration"] != iteration:
            continue
        if node["kind"] == "compute":
            yield "compute", number
        elif node["kind"] == "transfer" and nodes[node["of"]]["kind"] == "recv":
            yield "receive", later(node["of"])
        for issued in after.get(number, []):
            kind = nodes[issued]["kind"]
            if kind == "send":
                yield "send", later(issued)
            elif kind != "recv":
                yield "other", None


def operations(cls, stage_of_rank, stage, stages, micro_batches, iteration):
    """[(kind, CPU nodes before its input, CPU nodes after it)] in the order of the schedule. What no
    message ends is counted with the operation that follows it."""
    todo = list(events(cls, stage_of_rank, stage, iteration))

    def computes_until(name, is_later):
        found = []
        while todo and todo[0][0] == "compute":
            found.append(todo.pop(0)[1])
        if todo.pop(0) != (name, is_later):
            raise ValueError(f"stage {stage} does not run 1F1B")
        return found

    done = []
    for kind in schedule(stage, stages, micro_batches):
        forward = kind == "F"
        has_input = stage > 0 if forward else stage + 1 < stages
        has_output = stage + 1 < stages if forward else stage > 0
        before = computes_until("receive", not forward) if has_input else []
        main = computes_until("send", forward) if has_output else []
        done.append((kind, before, main))
    rest = []
    while todo[0][0] == "compute":
        rest.append(todo.pop(0)[1])
    if stage == 0:  # its last backward ends with the iteration's pipeline
        done[-1][2].extend(rest)
    return done


def recurrence(per_stage, starts):
    """per_stage: [(kind, ns before the input, ns after it)] by stage. Start of the first forward and
    end of the last backward of every stage."""
    stages = len(per_stage)
    outputs = {"F": [[] for _ in range(stages)], "B": [[] for _ in range(stages)]}
    clock, first, position = list(starts), [None] * stages, [0] * stages
    moved = True
    while moved:
        moved = False
        for stage, ops in enumerate(per_stage):
            while position[stage] < len(ops):
                kind, before, main = ops[position[stage]]
                giver = stage - 1 if kind == "F" else stage + 1
                ready = clock[stage] + before
                if 0 <= giver < stages:
                    number = len(outputs[kind][stage])
                    if number >= len(outputs[kind][giver]):
                        break
                    ready = max(ready, outputs[kind][giver][number])
                if first[stage] is None:
                    first[stage] = ready
                clock[stage] = ready + main
                outputs[kind][stage].append(clock[stage])
                position[stage] += 1
                moved = True
    return list(zip(first, clock))


def compare(document, iteration):
    classes, times = document["job"]["classes"], document["times"]
    stages = len(classes)
    stage_of_rank = {rank: s for s, cls in enumerate(classes) for rank in cls["members"]}
    last = classes[-1]["nodes"]
    micro_batches = sum(
        n["kind"] == "recv" and n["iteration"] == iteration for n in last
    )
    per_stage, starts, engine = [], [], []
    for stage, cls in enumerate(classes):
        rank = cls["members"][cls["representative"]]
        ops = operations(cls, stage_of_rank, stage, stages, micro_batches, iteration)

        def total(numbers, nodes=cls["nodes"]):
            return sum(nodes[n]["duration"] for n in numbers)

        def start(number, of=times[rank]):
            return of[3 * number]

        def end(number, of=times[rank]):
            return of[3 * number + 1]

        per_stage.append([(kind, total(before), total(main)) for kind, before, main in ops])
        first_main = next(main for _, _, main in ops if main)
        starts.append(start((ops[0][1] + first_main)[0]))
        engine.append((start(first_main[0]), end(ops[-1][2][-1])))
    print(f"{stages} stages, {micro_batches} micro-batches, iteration {iteration}")
    agree, idle = True, 0
    for stage, (mine, its) in enumerate(zip(recurrence(per_stage, starts), engine)):
        busy = sum(before + main for _, before, main in per_stage[stage]) - per_stage[stage][0][1]
        spans = [mine[1] - mine[0], its[1] - its[0]]
        bubbles = [span - busy for span in spans]
        off = [abs(a - b) / max(a, 1) for a, b in (spans, bubbles)]
        print(
            f"stage {stage}: span {spans[0]} ns (engine {spans[1]}), bubble {bubbles[0]} ns "
            f"= {bubbles[0] / spans[0]:.1%} (engine {bubbles[1]}), off by {max(off):.3%}"
        )
        agree = agree and max(off) <= TOLERANCE
        idle += bubbles[0]
    return agree and idle > 0


def main():
    result = subprocess.run(
        [sys.argv[1], "--free", *sys.argv[2:]], stdout=subprocess.PIPE, text=True, check=True
    )
    document = json.loads(result.stdout.split("\n---\n")[0])
    if document["error"] or document["check"]:
        print(document["error"], document["check"])
        return 1
    iterations = document["job"]["classes"][0]["iterations"]
    # The first two share the start of the program between them; the last comes after training.
    return 0 if all([compare(document, i) for i in range(2, iterations - 1)]) else 1


if __name__ == "__main__":
    sys.exit(main())
