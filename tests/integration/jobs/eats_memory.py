# SPDX-License-Identifier: Apache-2.0
# Takes 256 MiB more at every step and touches it, without end: to be run under a memory limit only. Expected: the
# kernel's kill or Python's MemoryError is reported with the rank, exit code 1.
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
kept = []
while True:
    kept.append(torch.ones(1 << 26))
    dist.all_reduce(torch.ones(4))
