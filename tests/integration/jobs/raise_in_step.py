# SPDX-License-Identifier: Apache-2.0
# Every rank raises in training, at step 3, after good steps. Expected: traceback and rank, exit code 1.
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
parameter = torch.nn.Parameter(torch.ones(4))
optimizer = torch.optim.SGD([parameter], lr=0.1)
for step in range(10):
    if step == 3:
        raise ValueError("loss is not a number at step 3")
    parameter.grad = parameter.detach().clone()
    dist.all_reduce(parameter.grad)
    optimizer.step()
dist.destroy_process_group()
