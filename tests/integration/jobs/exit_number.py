# SPDX-License-Identifier: Apache-2.0
# Leaves with sys.exit(3) in the middle of training. Expected: the exit code is reported as the job's, exit code 1.
import sys

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
for step in range(4):
    dist.all_reduce(torch.ones(4))
    if step == 2:
        sys.exit(3)
