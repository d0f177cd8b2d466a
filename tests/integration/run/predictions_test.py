# SPDX-License-Identifier: Apache-2.0
"""What `prism run` predicts, and that it says how it came to it."""

import json
import unittest

from support import JOBS, SOURCE, RunCase, train

SLEEPER = train("time.sleep(0.02)")


class Predictions(RunCase):
    def median(self):
        return self.metrics()["predicted"]["iteration_time_ns"]["median"]

    def test_metrics_and_tables(self):
        result = self.prism("run", self.experiment(SLEEPER, world_size=64))
        self.assert_ok(result)
        for text in ("predicted iteration time, 64 ranks", "critical path", "made up", "default_pg"):
            self.assertIn(text, result.stdout)
        metrics = self.metrics()
        self.assertEqual(metrics["schema"], 1)
        self.assertEqual(metrics["world_size"], 64)
        times = metrics["predicted"]["iteration_time_ns"]
        self.assertLessEqual(times["low"], times["median"])
        self.assertLessEqual(times["median"], times["high"])
        self.assertGreaterEqual(times["median"], 20_000_000)
        [one] = metrics["classes"]
        self.assertEqual((one["representative"], one["members"]), (0, 64))
        self.assertEqual(len(one["checked"]), 1)
        [made_up] = metrics["made_up"]
        # Two executed ranks, four steps, gradients of a weight and a bias.
        self.assertEqual(made_up["operations"], 2 * 4 * 2)
        self.assertEqual(made_up["bytes"], 2 * 4 * (64 * 64 + 64) * 4)
        self.assertEqual((made_up["operation"], made_up["source"]), ("all_reduce", "echo"))

    def test_what_is_recorded_is_used_again(self):
        file = self.experiment(SLEEPER)
        self.assert_ok(self.prism("run", file))
        self.assertEqual(self.metrics()["executed"], {"now": 2, "reused": 0})
        first = self.metrics()
        self.assert_ok(self.prism("run", file))
        self.assertEqual(self.metrics()["executed"], {"now": 0, "reused": 2})
        self.assertEqual(self.metrics()["predicted"], first["predicted"])
        self.assert_ok(self.prism("run", file, "--fresh"))
        self.assertEqual(self.metrics()["executed"], {"now": 2, "reused": 0})

    def test_a_damaged_recording_is_made_anew(self):
        file = self.experiment(SLEEPER)
        self.assert_ok(self.prism("run", file))
        events = self.folder / "run" / "ranks" / "00000" / "events"
        whole = events.read_bytes()
        for damage in (whole[:500], whole[:300] + b"\xff\xff" + whole[302:], None):
            if damage is None:
                events.unlink()
            else:
                events.write_bytes(damage)
            self.assert_ok(self.prism("run", file))
            self.assertEqual(self.metrics()["executed"], {"now": 1, "reused": 1})

    def test_a_change_of_an_imported_file_makes_recordings_stale(self):
        (self.folder / "helper.py").write_text("PAUSE = 0.01\n")
        file = self.experiment("import helper\n" + train("time.sleep(helper.PAUSE)"))
        self.assert_ok(self.prism("run", file))
        (self.folder / "helper.py").write_text("PAUSE = 0.02\n")
        self.assert_ok(self.prism("run", file))
        self.assertEqual(self.metrics()["executed"], {"now": 2, "reused": 0})

    def test_links_change_the_prediction_of_one_recording(self):
        """All-reduce on a ring of 4: 2 * 3 steps; the difference is known to the nanosecond."""
        file = self.experiment(SLEEPER, world_size=4)
        self.assert_ok(self.prism("run", file))
        before = self.median()
        file.write_text(file.read_text().replace("20 us", "40 us"))
        self.assert_ok(self.prism("run", file))
        self.assertEqual(self.median() - before, 2 * 6 * 20_000)
        file.write_text(file.read_text() + "[predict]\ncompute_scale = 2.0\n")
        communication = self.metrics()["classes"][0]["communication_ns"]
        slow = self.median()
        self.assert_ok(self.prism("run", file))
        # Every compute node is rounded to a nanosecond by itself.
        self.assertAlmostEqual(self.median() - communication, 2 * (slow - communication), delta=100)

    def test_iterations_that_differ_are_left_out_and_said(self):
        result = self.prism("run", self.experiment(JOBS / "accumulation.py"))
        self.assert_ok(result)
        self.assertIn("of 8 iterations", result.stdout)
        self.assertIn("left out", result.stdout)

    def test_without_an_optimizer_the_program_is_one_iteration(self):
        result = self.prism("run", self.experiment(JOBS / "no_optimizer.py"))
        self.assert_ok(result)
        self.assertIn("no optimizer step was seen", result.stdout)

    def test_classes(self):
        job = self.experiment(JOBS / "uneven_members.py", classes='"rank % 2"')
        self.assert_fails(self.prism("run", job), 1, "do not fit together", "rank 0", "rank 1",
                          "all_reduce")

    def pipeline(self, classes):
        return self.experiment(SOURCE / "examples" / "pipeline" / "train.py", world_size=8,
                               classes=classes, args=["--pp", "4", "--micro-batches", "4",
                                                      "--steps", "3", "--hidden", "64"])

    def test_pipeline_of_classes(self):
        result = self.prism("run", self.pipeline('"rank // 2"'))
        self.assert_ok(result)
        self.assertEqual(self.metrics()["executed"], {"now": 8, "reused": 0})
        waiting = [one["waiting_ns"] for one in self.metrics()["classes"]]
        self.assertTrue(all(ns > 0 for ns in waiting), waiting)

    def test_a_stage_list_with_a_wrong_member(self):
        result = self.prism("run", self.pipeline('["0,2", "1,3", "4-5", "6-7"]'))
        self.assert_fails(result, 1, "rank 0", "rank 2", "class")

    def test_receive_from_any_source(self):
        """Rank 0 gets its messages after 50, 100 and 150 ms of its senders' sleep: the iteration
        lasts as long as the slowest of them, not as long as their sum."""
        self.assert_ok(self.prism("run", self.experiment(JOBS / "any_source.py", world_size=4,
                                                         classes='"none"')))
        self.assertGreater(self.median(), 150_000_000)
        self.assertLess(self.median(), 200_000_000)
        self.assertGreater(self.metrics()["classes"][0]["waiting_ns"], 140_000_000)

    def test_every_rank_by_itself(self):
        self.assert_ok(self.prism("run", self.pipeline('"none"')))
        self.assertEqual(self.metrics()["executed"], {"now": 8, "reused": 0})

    def test_sharding_that_leaves_a_rank_with_nothing(self):
        job = self.experiment(JOBS / "fsdp2_uneven.py", world_size=1024,
                              parallel="check_replicas = 4")
        self.assert_fails(self.prism("run", job), 1, "do not have the same parameters", "ranks 0 and")

    def test_timeline(self):
        self.assert_ok(self.prism("run", self.experiment(SLEEPER, world_size=8)))
        timeline = json.loads((self.folder / "run" / "timeline.json").read_text())
        events = timeline["traceEvents"]
        self.assertEqual({e["pid"] for e in events}, set(range(8)))
        spans = [e for e in events if e["ph"] == "X"]
        self.assertTrue(all(e["dur"] >= 0 for e in spans))
        names = {e["name"] for e in spans}
        self.assertIn("compute", names)
        self.assertIn("all_reduce transfer", names)
        on_cpu = [e for e in spans if e["pid"] == 0 and e["tid"] == 0]
        ends = [round((e["ts"] + e["dur"]) * 1000) for e in on_cpu]
        starts = [round(e["ts"] * 1000) for e in on_cpu]
        self.assertTrue(all(end <= start for end, start in zip(ends, starts[1:])))
        median = self.median()
        self.assertLessEqual(max(ends), 3 * median)


if __name__ == "__main__":
    unittest.main(verbosity=2)
