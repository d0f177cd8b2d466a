# SPDX-License-Identifier: Apache-2.0
# Odd ranks reduce half as much. Expected: with classes = "all" an error that names both ranks, the operation and both
# sizes.
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
parameter = torch.nn.Parameter(torch.ones(4))
optimizer = torch.optim.SGD([parameter], lr=0.1)
for step in range(4):
    parameter.grad = torch.ones(4)
    dist.all_reduce(torch.ones(64 if dist.get_rank() % 2 == 0 else 32))
    optimizer.step()
dist.destroy_process_group()
