# SPDX-License-Identifier: Apache-2.0
# Inference: no optimizer, no backward, the same communication six times over. Expected: iterations are found by the
# period of the communications, or the whole program is one, and the result says which.
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
world = dist.get_world_size()
weights = torch.ones(64, 64) / 64
with torch.no_grad():
    for request in range(6):
        x = torch.full((8, 64), float(request)) @ weights
        dist.all_reduce(x)
        parts = [torch.empty(8, 64) for _ in range(world)]
        dist.all_gather(parts, x)
dist.destroy_process_group()
