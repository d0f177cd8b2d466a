# SPDX-License-Identifier: Apache-2.0
"""Rank 0 takes one message from every other rank in each step, in the order in which they come: the
first sender is always the one with the highest rank, which computes least."""

import time

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
model = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(4):
    model(torch.ones(1, 4)).sum().backward()
    if rank == 0:
        for _ in range(world - 1):
            dist.recv(torch.empty(1024))
    else:
        time.sleep(0.05 * (world - rank))
        dist.send(torch.ones(1024), 0)
    dist.barrier()
    optimizer.step()
dist.destroy_process_group()
