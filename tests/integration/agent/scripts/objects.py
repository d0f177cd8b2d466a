# SPDX-License-Identifier: Apache-2.0
"""Collectives of pickled objects, as source and not."""

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank, n = dist.get_rank(), dist.get_world_size()
other = (rank + 1) % n
mine = {"rank": rank, "shape": (3, 4), "name": "grüße"}

gathered = [None] * n
dist.all_gather_object(gathered, mine)
assert gathered == [mine] * n, gathered
gathered = [None] * n
dist.gather_object(mine, gathered, dst=rank)
assert gathered == [mine] * n, gathered

objects = [mine, 7, "text"]
dist.broadcast_object_list(objects, src=rank)
assert objects == [mine, 7, "text"]
scattered = [None]
dist.scatter_object_list(scattered, [{"for": i} for i in range(n)], src=rank)
assert scattered == [{"for": rank}], scattered

if n > 1:
    dist.gather_object(mine, dst=other)
    objects = [mine, 7, "text"]
    dist.broadcast_object_list(objects, src=other)
    assert objects == [mine, 7, "text"], objects
    objects = [None, None]
    dist.broadcast_object_list(objects, src=other, group=dist.group.WORLD)
    assert objects == [None, None], objects
    objects = [lambda: 0]  # cannot be pickled
    dist.broadcast_object_list(objects, group_src=other)
    assert objects == [None], objects
    dist.scatter_object_list(scattered, None, src=other)
    assert scattered == [None], scattered
    dist.scatter_object_list(scattered, [{"for": i} for i in range(n)], other)
    assert scattered == [{"for": rank}], scattered
    dist.send_object_list([mine], dst=other)
    objects = [mine, None]
    assert dist.recv_object_list(objects, src=other) == other
    assert objects == [mine, None], objects
    # What was expected for objects must not reach the next operation.
    x = torch.empty(3, dtype=torch.int64)
    dist.broadcast(x, src=other)
    assert x.tolist() == [0, 0, 0], x

dist.destroy_process_group()
print("all as expected")
