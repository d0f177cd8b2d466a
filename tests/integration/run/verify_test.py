# SPDX-License-Identifier: Apache-2.0
"""`prism run --verify N`: the job for real beside the prediction for it."""

import contextlib
import os
import subprocess
import sys
import unittest

from support import RunCase, train

# Says in the file diary.N, N being the number of ranks, when a run of a rank starts and ends.
DIARY = """
import os
def note(event):
    way = "real" if "PRISM_MARKS_FOLDER" in os.environ else "recorded"
    [core, *more] = os.sched_getaffinity(0)
    with open("diary." + os.environ["WORLD_SIZE"], "a") as diary:
        print(event, way, os.environ["RANK"], "any" if more else core, file=diary)
note("start")
""" + train("time.sleep(0.02)", after='note("end")')
CORES = sorted(os.sched_getaffinity(0))[:2]  # of the two ranks


# Never rests, on the core that it is given, while the process that started it is there.
SPINNER = """
import os, sys
os.sched_setaffinity(0, {int(sys.argv[1])})
while os.getppid() == int(sys.argv[2]): pass
"""


@contextlib.contextmanager
def busy_cores():
    """Another program on each core of a rank."""
    programs = [subprocess.Popen([sys.executable, "-c", SPINNER, str(core), str(os.getpid())])
                for core in CORES]
    try:
        yield
    finally:
        for program in programs:
            program.kill()
            program.wait()


class Verify(RunCase):
    def test_measured_beside_predicted(self):
        file = self.experiment(train(), args=["--unused"], more='[verify.2]\nargs = []\n')
        result = self.prism("run", file, "--verify", "2")
        self.assert_ok(result)
        self.assertIn("measured", result.stdout)
        self.assertIn("link of this machine", result.stdout)
        verify = self.metrics()["verify"]
        self.assertEqual(verify["world_size"], 2)
        for side in ("predicted", "measured"):
            self.assertGreater(verify[side]["median"], 0)

    def test_arguments_that_are_unchanged(self):
        result = self.prism("run", self.experiment(train()), "--verify", "2")
        self.assert_ok(result)
        self.assertIn("arguments unchanged", result.stdout)

    def test_recordings_and_real_runs_take_turns(self):
        """Also where collect has one slot: what is held against a run of two ranks at once is
        recorded at once, each rank on the same core as for real."""
        file = self.experiment(DIARY, collect="slots = 1")
        self.assert_ok(self.prism("run", file, "--verify", "2"))
        self.assertEqual(self.metrics()["verify"]["rounds"], 2)
        diary = [line.split() for line in (self.folder / "diary.2").read_text().splitlines()]
        self.assertEqual([way for _, way, _, _ in diary],
                         ["recorded"] * 4 + ["real"] * 4 + ["recorded"] * 4 + ["real"] * 4)
        if len(CORES) == 2:
            self.assertEqual([event for event, _, _, _ in diary], ["start", "start", "end", "end"] * 4)
        at_the_end = {(rank, core) for event, _, rank, core in diary if event == "end"}
        self.assertEqual(at_the_end, {("0", str(CORES[0])), ("1", str(CORES[-1]))})

    def test_cores_that_others_took(self):
        with busy_cores():
            result = self.prism("run", self.experiment(train()), "--verify", "2")
        self.assert_ok(result)
        self.assertIn("of the time that the ranks' cores were wanted, others took", result.stdout)
        verify = self.metrics()["verify"]
        for side in ("taken_while_recorded", "taken_while_real"):
            self.assertGreater(verify[side]["others"], 0.2)
            self.assertGreaterEqual(verify[side]["stolen"], 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
