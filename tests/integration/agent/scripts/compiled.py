# SPDX-License-Identifier: Apache-2.0
"""Compiled code that communicates, around optimizer steps."""

import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as functional
from torch import nn

dist.init_process_group("gloo")
n = dist.get_world_size()
model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 8))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


@torch.compile(backend="aot_eager")
def step(x):
    y = model(x).square().mean()
    return y, functional.all_reduce(x, "sum", dist.group.WORLD)


for _ in range(3):  # compiled as a whole: no module is seen to run
    x = torch.randn(4, 8)
    loss, total = step(x)
    assert torch.equal(torch.as_tensor(total), x * n)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
compiled = torch.compile(model, backend="aot_eager")
for _ in range(3):
    compiled(torch.randn(4, 8)).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
print("all as expected")
