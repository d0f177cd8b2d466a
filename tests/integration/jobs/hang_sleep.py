# SPDX-License-Identifier: Apache-2.0
# Sleeps for ever after step 2. Expected: at the timeout the last operation and the Python stack with the line of the
# sleep, exit code 1, no process left.
import time

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
for step in range(4):
    dist.all_reduce(torch.ones(4))
    if step == 2:
        time.sleep(1_000_000)
dist.destroy_process_group()
