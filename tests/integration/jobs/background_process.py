# SPDX-License-Identifier: Apache-2.0
# Starts a process that outlives it, in a session of its own, and ends. Expected: the job succeeds and the process
# (its number is printed) is gone afterwards.
import subprocess
import sys

import torch
import torch.distributed as dist

sleeper = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"], start_new_session=True)
print(f"sleeper {sleeper.pid}", flush=True)
dist.init_process_group("gloo")
for step in range(3):
    dist.all_reduce(torch.ones(4))
dist.destroy_process_group()
