# SPDX-License-Identifier: Apache-2.0
# FSDP2 at hidden 256. At a world of 1,024 rank 1,023 has nothing of any parameter and rank 0 has one row, so that the
# ranks are not of one class. Expected: with classes = "all" an error that names both ranks; good at a world of 64.
import gc

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import fully_shard

dist.init_process_group("gloo")
torch.manual_seed(1)
mesh = dist.init_device_mesh("cpu", (dist.get_world_size(),))
model = nn.Sequential(*(nn.Sequential(nn.Linear(256, 256), nn.GELU()) for _ in range(2)))
for block in model:
    fully_shard(block, mesh=mesh)
fully_shard(model, mesh=mesh)
optimizer = torch.optim.AdamW(model.parameters())
for step in range(6):
    loss = model(torch.randn(8, 256)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
del model, block, optimizer, loss
gc.collect()
dist.destroy_process_group()
