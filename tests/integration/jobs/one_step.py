# SPDX-License-Identifier: Apache-2.0
# One single training step, fewer than the warm-up. Expected: a message that nothing is left to measure and what to do.
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
parameter = torch.nn.Parameter(torch.ones(4))
optimizer = torch.optim.SGD([parameter], lr=0.1)
parameter.grad = torch.ones(4)
dist.all_reduce(parameter.grad)
optimizer.step()
dist.destroy_process_group()
