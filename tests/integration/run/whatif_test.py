# SPDX-License-Identifier: Apache-2.0
"""prism whatif and prism trace diff, on a small job and on real ones."""

import csv
import json
import shutil
import statistics
import unittest
from collections import defaultdict

from support import SOURCE, RunCase

EXAMPLE = SOURCE / "examples" / "trace" / "microbatch.csv"
REAL = SOURCE.parent / "shared" / "data"
STRAGGLER = REAL / "bytedance-ST" / "trace-ST.csv"
MEGATRON = REAL / "megatron-dense-w8"


def rows_of(path):
    with path.open() as file:
        return list(csv.DictReader(file))


class Case(RunCase):
    def setUp(self):
        super().setUp()
        if "microbatch" not in self.prism("plugin", "list").stdout:
            self.skipTest("the plugin microbatch is not built")
        shutil.copy(EXAMPLE, self.folder / "job.csv")

    def whatif(self, *words):
        result = self.prism("whatif", *words, "--json")
        self.assert_ok(result)
        return json.loads(result.stdout)

    def real(self, path):
        if not path.exists():
            self.skipTest("the real data is not here: ../shared/data")
        return path


class Small(Case):
    def test_without_edits_it_says_who_is_responsible(self):
        result = self.prism("whatif", "job.csv")
        self.assert_ok(result)
        self.assertIn("8 ranks, 4 stages (places in 'pipeline forward'), 2 replicas", result.stdout)
        self.assertIn("Critical path of iteration", result.stdout)
        report = self.whatif("job.csv")
        self.assertEqual(report["stage"], [0, 0, 1, 1, 2, 2, 3, 3])
        self.assertEqual(report["replica"], [0, 1] * 4)
        # Its rows of stage 2 take 1.4 times as long as those of the others.
        self.assertEqual(report["attribution"]["stages"][0]["what"], "stage 2")
        self.assertGreater(report["attribution"]["stages"][0]["share"], 0.1)
        self.assertEqual(report["edits"], [])
        self.assertEqual(report["before_ns"], report["after_ns"])
        self.assertEqual(len(report["iterations"]), 3)
        path = report["critical_path"]["after"]
        for parts in ("by_kind", "by_stage", "by_rank"):
            self.assertEqual(sum(part["ns"] for part in path[parts]) + path["before_ns"], path["length_ns"])

    def test_what_a_row_says_is_what_its_edit_gives(self):
        report = self.whatif("job.csv", "--iteration", "1")
        for one in report["attribution"]["stages"] + report["attribution"]["kinds"]:
            option, text = one["level"].split(" ", 1)
            edited = self.whatif("job.csv", "--iteration", "1", option, text.strip("'"))
            saved = edited["before_ns"]["median"] - edited["after_ns"]["median"]
            self.assertEqual(saved, one["saved_ns"]["median"], one["level"])

    def test_edits_apply_in_order(self):
        once = self.whatif("job.csv", "--scale", "kind=compute factor=2")
        self.assertGreater(once["change"], 0.8)
        back = self.whatif("job.csv", "--scale", "kind=compute factor=2", "--scale", "kind=compute factor=0.5")
        self.assertEqual([e["option"] for e in back["edits"]], ["--scale", "--scale"])
        self.assertEqual(back["change"], 0)
        first = self.whatif("job.csv", "--set", "kind=compute duration=1ms", "--scale", "kind=compute factor=2")
        last = self.whatif("job.csv", "--scale", "kind=compute factor=2", "--set", "kind=compute duration=1ms")
        self.assertGreater(first["after_ns"]["median"], last["after_ns"]["median"])
        one = self.whatif("job.csv", "--scale", "iteration=1 kind=compute factor=2")
        changed = [i["iteration"] for i in one["iterations"] if i["before_ns"] != i["after_ns"]]
        self.assertEqual(changed, [1])

    def test_mistakes(self):
        for words, text in (
            (("--scale", "stge=1 factor=2"), "--scale:1:1: error: unknown key 'stge'; did you mean 'stage'?"),
            (("--scale", "stage=7 factor=2"), "--scale:1:7: error: no node has stage=7; there are 0-3"),
            (("--set", "kind=send duration=3"), "--set:1:"),
            (("--link", "kind=send latency=1us bandwidth=1GB/s"), "does not tell how many bytes"),
            (("--iteration", "3"), "--iteration: the trace has no iteration 3; the last is 2"),
            (("--without", "x"), "unrecognised option '--without'"),
        ):
            result = self.prism("whatif", "job.csv", *words)
            self.assert_fails(result, 2, text)
            self.assertEqual(result.stdout, "")
        self.assert_fails(self.prism("whatif", "nothing.csv"), 2, "there is no file 'nothing.csv'")

    def test_diff_of_one_structure(self):
        rows = rows_of(EXAMPLE)
        for row in rows:
            if row["optype"] == "optimizer":
                row["duration"] = repr(2 * float(row["duration"]))
        with (self.folder / "slow.csv").open("w") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)
        result = self.prism("trace", "diff", "job.csv", "slow.csv", "--json")
        self.assert_ok(result)
        diff = json.loads(result.stdout)
        self.assertTrue(diff["same_structure"])
        calls = {row["name"]: row for row in diff["calls"]}
        self.assertAlmostEqual(calls["optimizer"]["change"], 1, delta=0.001)
        self.assertAlmostEqual(calls["optimizer"]["duration"]["median"], 1, delta=0.001)
        self.assertEqual(calls["forward-compute"]["change"], 0)
        self.assertIn("replicas_duration", calls["forward-compute"])
        self.assertIn("The structure is the same.", self.prism("trace", "diff", "job.csv", "slow.csv").stdout)

    def test_diff_of_two_structures(self):
        rows = [line for line in EXAMPLE.read_text().splitlines(keepends=True) if ",optimizer," not in line]
        (self.folder / "less.csv").write_text("".join(rows))
        result = self.prism("trace", "diff", "job.csv", "less.csv")
        self.assertEqual(result.returncode, 1)
        self.assertIn("The structure differs, first in iteration 0:\njob.csv: rank 0, lane compute, node ", result.stdout)
        self.assertIn("'optimizer'\nless.csv: ", result.stdout)
        self.assertIn("24 have no counterpart", result.stdout)
        self.assert_fails(self.prism("trace", "diff", "job.csv"), 2, "two traces are compared, not 1")

    def test_diff_of_replicas(self):
        result = self.prism("trace", "diff", "--replicas", "job.csv", "--json")
        self.assert_ok(result)
        diff = json.loads(result.stdout)
        self.assertEqual(diff["like_ranks"], [[0, 1], [2, 3], [4, 5], [6, 7]])
        rows = [row for row in rows_of(EXAMPLE) if row["optype"] == "forward-compute"]
        calls = defaultdict(list)
        for row in rows:
            calls[row["stage"], row["step"], row["mb_id"]].append(float(row["duration"]))
        deviations = sorted(abs(a - b) / (a + b) for a, b in calls.values())
        found = next(row for row in diff["calls"] if row["name"] == "forward-compute")
        self.assertEqual(found["calls"], len(rows))
        self.assertAlmostEqual(found["duration"]["median"], statistics.median(deviations), delta=0.0005)


class Schedule:
    """Megatron's order of one forward, one backward, as the recurrence has it: when each operation of the ranks of one
    pipeline ends. Messages take no time; a message of both directions is one meeting of two ranks."""

    def __init__(self, stages, micro_batches):
        self.stages = stages
        self.programs = [list(self.program(s, stages, micro_batches)) for s in range(stages)]

    @staticmethod
    def program(stage, stages, micro_batches):
        warm_up = min(stages - 1 - stage, micro_batches)
        steady = micro_batches - warm_up

        def meet(peer, *messages):
            return ("meet", peer, messages) if 0 <= peer < stages else None

        def operations():
            for k in range(warm_up):
                yield meet(stage - 1, ("F", k))
                yield ("F", k)
                yield meet(stage + 1, ("F", k))
            yield meet(stage - 1, ("F", warm_up))
            for i in range(steady):
                yield ("F", warm_up + i)
                yield meet(stage + 1, ("F", warm_up + i), ("B", i))
                yield ("B", i)
                last = i == steady - 1
                yield meet(stage - 1, ("B", i), *([] if last else [("F", warm_up + i + 1)]))
            for k in range(steady, micro_batches):
                yield meet(stage + 1, ("B", k))
                yield ("B", k)
                yield meet(stage - 1, ("B", k))

        return filter(None, operations())

    def end(self, duration, begin):
        """When the first stage ends its last backward. duration[stage][("F" or "B", micro-batch)]; begin[stage]."""
        at = list(begin)
        place = [0] * self.stages
        arrived = {}
        while any(place[s] < len(self.programs[s]) for s in range(self.stages)):
            before = list(place)
            for s in range(self.stages):
                while place[s] < len(self.programs[s]):
                    operation = self.programs[s][place[s]]
                    if operation[0] != "meet":
                        at[s] += duration[s][operation]
                    else:
                        _, peer, messages = operation
                        for message in messages:
                            arrived[s, peer, message] = max(at[s], arrived.get((s, peer, message), 0))
                        others = [arrived.get((peer, s, message)) for message in messages]
                        if None in others:
                            break
                        at[s] = max(at[s], *others)
                    place[s] += 1
            assert place != before, "the schedule stands still"
        return at[0]


class Straggler(Case):
    """A real job whose last stage computes twice as much as the others: dp 2, pp 4, 4 micro-batches, 32 steps."""

    def steps(self):
        """Step -> (durations, begin, end of the last backward of stage 0, span), by data-parallel rank and stage."""
        steps = defaultdict(list)
        for row in rows_of(self.real(STRAGGLER)):
            steps[int(row["step"])].append(row)
        for number in sorted(steps):
            rows = steps[number]
            duration = defaultdict(lambda: defaultdict(dict))
            begin, last = defaultdict(dict), {}
            for row in rows:
                dp, stage = int(row["dp_rank"]), int(row["stage"])
                start, length = float(row["start_ts"]), float(row["duration"])
                if row["optype"] in ("forward-compute", "backward-compute"):
                    kind = "F" if row["optype"] == "forward-compute" else "B"
                    duration[dp][stage][kind, int(row["mb_id"])] = length
                    if stage == 0:
                        last[dp] = max(last.get(dp, 0), start + length)
                        begin[dp][0] = min(begin[dp].get(0, start), start)
                    else:
                        begin[dp].setdefault(stage, 0)
            first = min(float(row["start_ts"]) for row in rows)
            end = max(float(row["start_ts"]) + float(row["duration"]) for row in rows)
            yield duration, begin, max(last.values()), end - first

    def test_the_slow_stage_is_named(self):
        report = self.whatif(self.real(STRAGGLER))
        self.assertEqual(report["stage"], [0, 0, 1, 1, 2, 2, 3, 3])
        first, *others = report["attribution"]["stages"]
        self.assertEqual(first["what"], "stage 3")
        self.assertGreater(first["share"], 0.2)
        for other in others:
            self.assertLess(abs(other["share"]), 0.01)
        self.assertEqual(report["critical_path"]["after"]["by_stage"][0]["stage"], 3)

    def test_removing_the_imbalance_saves_what_the_recurrence_says(self):
        schedule = Schedule(4, 4)
        measured, by_hand = [], []
        for duration, begin, last, span in self.steps():
            def ends(times):
                return max(schedule.end(times[dp], [begin[dp][s] for s in range(4)]) for dp in times)

            # The recurrence knows the job: without transfers it is short by less than 1 %.
            self.assertLess(abs(ends(duration) / last - 1), 0.01)
            level = {dp: {s: dict(duration[dp][s]) for s in range(4)} for dp in duration}
            for dp in level:
                for work in level[dp][3]:
                    level[dp][3][work] = statistics.median(
                        duration[other][s][work] for other in duration for s in range(3))
            measured.append(span)
            by_hand.append(ends(duration) - ends(level))
        report = self.whatif(STRAGGLER, "--level", "stage=3 kind=compute")
        self.assertEqual(len(report["iterations"]), len(measured))
        for iteration, span, saved in zip(report["iterations"], measured, by_hand, strict=True):
            self.assertAlmostEqual(iteration["before_ns"] / 1e9, span, delta=0.001 * span)
            self.assertAlmostEqual((iteration["before_ns"] - iteration["after_ns"]) / 1e9, saved, delta=0.01 * span)
        self.assertAlmostEqual(report["change"], -statistics.median(by_hand) / statistics.median(measured), delta=0.005)

    def test_both_forms_of_the_trace_are_alike(self):
        result = self.prism("trace", "diff", self.real(STRAGGLER), STRAGGLER.parent / "timeline-ST.json.gz", "--json")
        self.assert_ok(result)
        diff = json.loads(result.stdout)
        self.assertTrue(diff["same_structure"])
        for row in diff["calls"]:
            self.assertLess(row["start"]["high"], 0.001, row["name"])


class Megatron(Case):
    """Profiles of a real job: tp 2, pp 2, dp 2."""

    def files(self):
        if "kineto" not in self.prism("plugin", "list").stdout:
            self.skipTest("the plugin kineto is not built")
        return sorted(self.real(MEGATRON).glob("rank*.json.gz"))

    def test_stages_replicas_and_attribution(self):
        report = self.whatif(*self.files(), "--option", "clock=shared")
        self.assertEqual(report["stage"], [0, 0, 0, 0, 1, 1, 1, 1])
        self.assertEqual(report["replica"], [0, 0, 1, 1, 0, 0, 1, 1])
        self.assertEqual(len(report["attribution"]["ranks"]), 8)
        self.assertEqual(len(report["attribution"]["replicas"]), 2)

    def test_links(self):
        words = [*self.files(), "--option", "clock=shared", "--link"]
        fast = self.whatif(*words, "communicator=*DATA_PARALLEL* latency=5us bandwidth=400GB/s")
        slow = self.whatif(*words, "communicator=*DATA_PARALLEL* latency=5us bandwidth=1GB/s")
        self.assertLess(fast["after_ns"]["median"], slow["after_ns"]["median"])
        self.assertEqual(slow["edits"][0]["sizeless"], 0)

    def test_replicas(self):
        self.files()
        result = self.prism("trace", "diff", "--replicas", MEGATRON, "--option", "clock=shared", "--json")
        self.assert_ok(result)
        diff = json.loads(result.stdout)
        self.assertEqual(diff["like_ranks"], [[0, 1, 2, 3], [4, 5, 6, 7]])
        self.assertLess(diff["left_out"], 0.001 * diff["nodes"])
        kernels = next(row for row in diff["kinds"] if (row["kind"], row["lane"]) == ("compute", "stream"))
        self.assertLess(kernels["duration"]["median"], 0.1)


if __name__ == "__main__":
    unittest.main()
