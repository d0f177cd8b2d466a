# SPDX-License-Identifier: Apache-2.0
"""A few steps of FSDP2 on the CPU."""

import gc

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import fully_shard

dist.init_process_group("gloo")
torch.manual_seed(0)
model = nn.Sequential(*[nn.Sequential(nn.Linear(1024, 1024), nn.GELU()) for _ in range(2)])
for layer in model:
    fully_shard(layer)
fully_shard(model)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(3):
    loss = model(torch.randn(4, 1024)).square().mean()
    loss.backward()
    norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()
    assert torch.isfinite(loss), loss
    print(f"step {step} loss {loss.item():.4f} norm {float(norm.full_tensor()):.4f}")
dist.destroy_process_group()
del model, optimizer, loss
gc.collect()
