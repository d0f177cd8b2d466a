# SPDX-License-Identifier: Apache-2.0
"""What `prism run` says when the job, the machine or the user is wrong; and that nothing is left."""

import os
import random
import signal
import time
import unittest

from support import JOBS, RunCase

TRAIN = """
import os, sys, time, torch, torch.distributed as dist
dist.init_process_group("gloo")
model = torch.nn.Linear(64, 64)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
rank = dist.get_rank()
for step in range(int(os.environ.get("STEPS", "4"))):
    loss = model(torch.ones(8, 64)).square().mean()
    loss.backward()
    for p in model.parameters():
        dist.all_reduce(p.grad)
    {body}
    optimizer.step()
    optimizer.zero_grad()
{after}
dist.destroy_process_group()
"""


def train(body="pass", after=""):
    return TRAIN.format(body=body, after=after)


class Failures(RunCase):
    def run_job(self, script, *flags, **options):
        result = self.prism("run", self.experiment(script, **options), *flags)
        self.assert_nothing_left()
        return result

    def test_exception_in_training(self):
        result = self.run_job(train('if step == 2: raise KeyError("planted")'))
        self.assert_fails(result, 1, "rank 0 raised an exception", "KeyError: 'planted'",
                          "all_reduce", "job.py", "stderr")

    def test_exception_before_training(self):
        result = self.run_job('import torch\nraise ValueError("early")\n')
        self.assert_fails(result, 1, "rank 0 raised", "ValueError: early")

    def test_exception_before_torch(self):
        result = self.run_job('raise ValueError("earlier")\n#\n')
        self.assert_fails(result, 1, "rank 0", "ValueError: earlier")

    def test_exception_after_training(self):
        result = self.run_job(train(after='raise RuntimeError("late")'))
        self.assert_fails(result, 1, "RuntimeError: late")

    def test_syntax_error(self):
        result = self.run_job("import torch\ndef broken(:\n")
        self.assert_fails(result, 1, "rank 0", "SyntaxError")

    def test_sys_exit(self):
        result = self.run_job(train(after="sys.exit(3)"))
        self.assert_fails(result, 1, "rank 0 called sys.exit with exit code 3")

    def test_sys_exit_zero_is_an_end_like_any_other(self):
        self.assert_ok(self.run_job(train(after="sys.exit(0)")))

    def test_os_exit(self):
        result = self.run_job(train(after="os._exit(5)"))
        self.assert_fails(result, 1, "rank 0 ended with exit code 5")

    def test_killed(self):
        result = self.run_job(train(after="os.kill(os.getpid(), 9)"))
        self.assert_fails(result, 1, "rank 0 was killed by signal 9", "out of memory")

    def test_segfault(self):
        result = self.run_job(train(after="import ctypes; ctypes.string_at(0)"))
        self.assert_fails(result, 1, "rank 0 was killed by signal 11")

    def test_memory_exhausted(self):
        result = self.run_job(train('if step == 1: torch.empty(10**15)'))
        self.assert_fails(result, 1, "rank 0 raised", "can't allocate memory")

    def test_never_calls_init(self):
        result = self.run_job("import torch\nprint(torch.ones(3).sum())\n")
        self.assert_fails(result, 1, "rank 0", "init_process_group")

    def test_never_imports_torch(self):
        result = self.run_job("print('hello')\n#\n")
        self.assert_fails(result, 1, "rank 0", "never intercepted", "import torch")

    def test_hang_asleep(self):
        result = self.run_job(train("if step == 2: time.sleep(3600)"), collect='timeout = "4 s"')
        self.assert_fails(result, 1, "timeout", "last operation: all_reduce #5", "default_pg",
                          "job.py")

    def test_hang_busy(self):
        result = self.run_job(train("while step == 2: pass"), collect='timeout = "4 s"')
        self.assert_fails(result, 1, "timeout", "job.py")

    def test_too_few_iterations(self):
        result = self.run_job(train(), more="[predict]\n", collect="")
        self.assert_ok(result)
        file = self.folder / "experiment.toml"
        file.write_text(file.read_text().replace("warmup_iterations = 1", "warmup_iterations = 9"))
        self.assert_fails(self.prism("run", file), 1, "4 iterations", "warmup_iterations")

    def test_members_that_differ(self):
        result = self.run_job(train("if rank > 0: dist.all_reduce(torch.ones(2))"))
        self.assert_fails(result, 1, "rank 0", "class", "all_reduce")

    def test_script_missing(self):
        result = self.prism("run", self.experiment(self.folder / "nowhere.py"))
        self.assert_fails(result, 2, "nowhere.py", "experiment.toml:")

    def test_python_missing(self):
        file = self.experiment(train())
        file.write_text(file.read_text().replace('python = "', 'python = "/nowhere'))
        self.assert_fails(self.prism("run", file), 4, "python", "/nowhere")

    def test_plugin_missing(self):
        file = self.experiment(train(), more='[plugins]\nruntime = "torhc"\n')
        self.assert_fails(self.prism("run", file), 3, "torhc", "did you mean 'torch'")

    def test_world_of_one(self):
        self.assert_ok(self.run_job(train(), world_size=1))

    def test_two_programs_in_one_run_directory(self):
        file = self.experiment(train("time.sleep(0.5)"))
        first = self.start("run", file)
        lock = self.folder / "run" / "lock"
        while not lock.exists() or not lock.read_text():
            time.sleep(0.01)
        self.assert_fails(self.prism("run", file), 1, "in use by process", str(first.pid))
        self.assertEqual(first.wait(), 0, first.communicate())

    def test_run_directory_not_writable(self):
        file = self.experiment(train())
        (self.folder / "run").write_text("a file where a folder should be")
        self.assert_fails(self.prism("run", file), 1, "run")

    def test_background_process_of_the_job_is_ended(self):
        script = train(after="import subprocess; subprocess.Popen(['sleep', '1000'])")
        self.assert_ok(self.run_job(script))

    def test_data_loader_workers(self):
        self.assert_ok(self.run_job(JOBS / "data_loader.py"))


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
