# SPDX-License-Identifier: Apache-2.0
# Trains well, destroys the group, then raises. Expected: traceback and rank, exit code 1, although training ended.
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
parameter = torch.nn.Parameter(torch.ones(4))
optimizer = torch.optim.SGD([parameter], lr=0.1)
for step in range(4):
    parameter.grad = parameter.detach().clone()
    dist.all_reduce(parameter.grad)
    optimizer.step()
dist.destroy_process_group()
raise OSError("cannot write the results")
