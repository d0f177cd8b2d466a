# SPDX-License-Identifier: Apache-2.0
"""What `prism run` says when the job, the machine or the user is wrong; and that nothing is left."""

import os
import subprocess
import time
import unittest

from support import JOBS, PRISM, RunCase, train


class Failures(RunCase):
    def run_job(self, script, *flags, **options):
        options.setdefault("parallel", "check_replicas = 0")  # so that it is rank 0 that fails
        result = self.prism("run", self.experiment(script, **options), *flags)
        self.assert_nothing_left()
        return result

    def test_exception_in_training(self):
        result = self.run_job(train('if step == 2: raise KeyError("planted")'))
        self.assert_fails(result, 1, "rank 0 raised an exception", "KeyError: 'planted'",
                          "all_reduce", "job.py", "stderr", "values that no peer has sent",
                          "[[collect.rule]]")

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

    def test_control_characters_of_the_job_do_not_reach_the_terminal(self):
        result = self.run_job(train('raise RuntimeError("a \\x1b[31m red \\x00 end")'))
        self.assert_fails(result, 1, "a ?[31m red ? end", "its output:")
        self.assertNotIn("\x1b", result.stderr)

    def test_script_that_changes_while_it_is_recorded(self):
        """By a rank that is running, and between ranks: no recording of it counts."""
        for rank in (0, 1):
            script = train(f"if rank == {rank} and step == 3: open(__file__, 'a').write('# more\\n')")
            file = self.experiment(script, world_size=2, parallel="check_replicas = 0",
                                   classes='"none"', collect="slots = 1")
            self.assert_fails(self.prism("run", file), 1, "job.py' changed while the ranks were")
        (self.folder / "job.py").write_text(train())
        self.assert_ok(self.prism("run", file))
        self.assertEqual(self.metrics()["executed"], {"now": 2, "reused": 0})

    def test_odd_objects_in_the_run_directory(self):
        file = self.experiment(train(), parallel="check_replicas = 0")
        run = self.folder / "run"
        run.mkdir()
        for name in ("lock", "prism.log"):
            for make in (os.mkfifo, os.mkdir, lambda path: path.symlink_to("/nowhere/at/all")):
                make(run / name)
                self.assert_fails(self.prism("run", file, timeout=30), 1, f"/{name}'",
                                  "is no regular file: remove it")
                (run / name).rmdir() if (run / name).is_dir() else (run / name).unlink()
        rank = run / "ranks" / "00000"
        rank.mkdir(parents=True)
        for name in ("inputs", "events"):
            os.mkfifo(rank / name)
        self.assert_ok(self.prism("run", file))

    def test_output_that_does_not_arrive(self):
        file = self.experiment(train(), parallel="check_replicas = 0")
        for words in (["config", "show", file], ["plugin", "list"], ["--help"], ["run", file]):
            with open("/dev/full", "w") as full:
                result = subprocess.run([PRISM, *map(str, words)], env=self.environment(), text=True,
                                        stdout=full, stderr=subprocess.PIPE, timeout=240,
                                        cwd=self.folder)
            self.assertEqual(result.returncode, 1, words)
            self.assertIn("cannot write to standard output: No space left", result.stderr)

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
        result = self.run_job(train("if rank > 0: dist.all_reduce(torch.ones(2))"),
                              parallel="check_replicas = 1")
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
        self.assert_ok(self.run_job(JOBS / "data_loader_workers.py"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
