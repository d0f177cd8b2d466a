# SPDX-License-Identifier: Apache-2.0
# Accumulates gradients over four micro-batches, without communication in the first three, and reduces a logging value
# every third step. Expected: nine iterations; those that log are longer by one all-reduce.
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
model = DistributedDataParallel(torch.nn.Linear(64, 64))
optimizer = torch.optim.AdamW(model.parameters())
for step in range(9):
    optimizer.zero_grad()
    total = torch.zeros(1)
    for micro_batch in range(3):
        with model.no_sync():
            loss = model(torch.randn(8, 64)).square().mean()
            loss.backward()
        total += loss.detach()
    loss = model(torch.randn(8, 64)).square().mean()
    loss.backward()
    optimizer.step()
    if step % 3 == 2:
        dist.all_reduce(total)
        if dist.get_rank() == 0:
            print(f"step {step} loss {total.item() / dist.get_world_size():.4f}", flush=True)
dist.destroy_process_group()
