# SPDX-License-Identifier: Apache-2.0
# Odd ranks make one all-reduce more in every step. Expected: with classes = "all" an error that names both ranks and the
# first operation that differs; with classes = "rank % 2" an error that the all-reduces do not match. Under torchrun it
# fails with a closed connection, after steps with wrong sums.
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
parameter = torch.nn.Parameter(torch.ones(4))
optimizer = torch.optim.SGD([parameter], lr=0.1)
for step in range(4):
    parameter.grad = torch.ones(4)
    dist.all_reduce(parameter.grad)
    if rank % 2:
        dist.all_reduce(torch.ones(4))
    optimizer.step()
dist.destroy_process_group()
