# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C and kill -9 of `prism run` at any moment."""

import random
import signal
import time
import unittest

from support import RunCase, train


class Interruptions(RunCase):
    """Ctrl-C and kill -9 at any moment: no process and no lock is left, and what was done stays."""

    SCRIPT = train("time.sleep(0.05)")

    def interrupt(self, signal_number, seconds):
        process = self.start("run", self.experiment(self.SCRIPT, parallel="check_replicas = 2"))
        try:
            process.wait(timeout=seconds)
        except Exception:
            pass
        process.send_signal(signal_number)
        out, err = process.communicate(timeout=30)
        self.assert_nothing_left()
        return process.returncode, (out + err).decode()

    def test_ctrl_c(self):
        code, output = self.interrupt(signal.SIGINT, 3.0)
        self.assertEqual(code, 130, output)
        self.assertIn("interrupted", output)
        self.assert_ok(self.prism("run", self.folder / "experiment.toml"))

    def test_closed_terminal(self):
        code, output = self.interrupt(signal.SIGHUP, 3.0)
        self.assertEqual(code, 130, output)

    def test_ctrl_c_keeps_finished_ranks(self):
        file = self.experiment(self.SCRIPT, parallel="check_replicas = 2",
                               collect="slots = 1")
        process = self.start("run", file)
        first = self.folder / "run" / "ranks" / "00000" / "inputs"
        while not first.exists():
            self.assertIsNone(process.poll(), "ended before it could be interrupted")
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
        self.assertEqual(process.returncode, 130)
        before = first.stat().st_mtime_ns
        self.assert_ok(self.prism("run", file))
        self.assertEqual(first.stat().st_mtime_ns, before)

    def test_kill_at_random_moments(self):
        seed = random.randrange(1 << 32)
        print(f"seed {seed}")
        moments = random.Random(seed)
        for _ in range(10):
            code, output = self.interrupt(signal.SIGKILL, moments.uniform(0.0, 6.0))
            self.assertIn(code, (0, -signal.SIGKILL), output)
        self.assert_ok(self.prism("run", self.folder / "experiment.toml"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
