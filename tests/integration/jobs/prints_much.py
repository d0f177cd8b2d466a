# SPDX-License-Identifier: Apache-2.0
# Prints 100,000 lines on each of its outputs between two all-reduces. Expected: nothing blocks, nothing is lost.
import sys

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
dist.all_reduce(torch.ones(4))
for line in range(100_000):
    print(f"line {line}")
    print(f"error line {line}", file=sys.stderr)
dist.all_reduce(torch.ones(4))
dist.destroy_process_group()
