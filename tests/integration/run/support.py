# SPDX-License-Identifier: Apache-2.0
"""What the end-to-end tests share: experiments in a temporary folder, the program run on them."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[3]
JOBS = SOURCE / "tests" / "integration" / "jobs"
PRISM = pathlib.Path(os.environ["PRISM_PROGRAM"])
FIXTURES = PRISM.resolve().parents[1] / "tests" / "plugin_fixtures"
PYTHON = os.environ["PRISM_TEST_PYTHON"]

EXPERIMENT = """
[experiment]
name = "test"
run_dir = "run"
[job]
script = "{script}"
args = {args}
[parallel]
world_size = {world_size}
classes = {classes}
{parallel}
[plugins.options.torch]
python = "{python}"
[collect]
{collect}
[link.default]
latency = "20 us"
bandwidth = "10 GB/s"
{link}
[time]
repeats = 1
warmup_iterations = 1
{more}
"""

# A small job that trains. `body` runs in every step before the optimizer's, `after` after the last.
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


def processes_with(marker):
    """Process ids whose environment or command line holds `marker`, this process excepted."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        for name in ("environ", "cmdline"):
            try:
                if marker.encode() in (entry / name).read_bytes():
                    state = (entry / "stat").read_text().rsplit(")", 1)[1].split()[0]
                    if state not in "ZX":
                        found.append(int(entry.name))
                    break
            except OSError:
                pass
    return found


class RunCase(unittest.TestCase):
    """Each test has its own folder and its own marker in the environment of what it starts."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="prism-run-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.marker = f"PRISM_TEST_MARKER_{os.getpid()}_{time.monotonic_ns()}"

    def experiment(self, script, *, world_size=4, classes='"all"', args=(), name="experiment.toml",
                   **blocks):
        """Writes an experiment file. `script`: a path, or the text of a program."""
        path = pathlib.Path(str(script)) if "\n" not in str(script) else None
        if path is None:
            path = self.folder / "job.py"
            path.write_text(script)
        fields = {key: blocks.get(key, "") for key in ("parallel", "collect", "link", "more")}
        file = self.folder / name
        file.write_text(EXPERIMENT.format(script=path, args=json.dumps(list(args)),
                                          world_size=world_size, classes=classes, python=PYTHON,
                                          **fields))
        return file

    def environment(self):
        return {**os.environ, self.marker: "1", "OMP_NUM_THREADS": "1"}

    def prism(self, *words, timeout=240):
        return subprocess.run([PRISM, *map(str, words)], env=self.environment(), text=True,
                              capture_output=True, timeout=timeout, cwd=self.folder,
                              errors="replace")

    def start(self, *words):
        return subprocess.Popen([PRISM, *map(str, words)], env=self.environment(),
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.folder,
                                start_new_session=True)

    def metrics(self):
        return json.loads((self.folder / "run" / "metrics.json").read_text())

    def assert_ok(self, result):
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def assert_fails(self, result, code, *texts):
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        for text in texts:
            self.assertIn(text, result.stderr)

    def assert_nothing_left(self, seconds=10):
        deadline = time.monotonic() + seconds
        while processes_with(self.marker) and time.monotonic() < deadline:
            time.sleep(0.05)
        left = [(pid, pathlib.Path(f"/proc/{pid}/cmdline").read_bytes())
                for pid in processes_with(self.marker)]
        self.assertEqual(left, [])
