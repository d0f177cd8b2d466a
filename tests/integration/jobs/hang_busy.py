# SPDX-License-Identifier: Apache-2.0
# Computes for ever after step 2, in Python. Expected: as for a sleep; it uses its processor meanwhile.
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
for step in range(4):
    dist.all_reduce(torch.ones(4))
    while step == 2:
        pass
dist.destroy_process_group()
