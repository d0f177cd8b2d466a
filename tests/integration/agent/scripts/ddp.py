# SPDX-License-Identifier: Apache-2.0
"""A few steps of DistributedDataParallel on the CPU, with buffers that rank 0 hands out."""

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(64, 256), nn.BatchNorm1d(256), nn.ReLU(), nn.Linear(256, 64))
before = [p.clone() for p in model.parameters()]
model = DistributedDataParallel(model, bucket_cap_mb=0.05)
for old, new in zip(before, model.parameters()):
    assert torch.equal(old, new), "parameters were to be kept"
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(4):
    loss = model(torch.randn(16, 64)).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    assert torch.isfinite(loss), loss
dist.barrier()
dist.destroy_process_group()
