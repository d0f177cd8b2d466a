# SPDX-License-Identifier: Apache-2.0
"""A few operations of known size, for rank 1 of 4: the test knows what is to be told of each."""

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
pg = dist.group.WORLD
odd = dist.new_group([1, 3], group_desc="odd")
dist.new_group([0, 2], group_desc="even")

dist.all_reduce(torch.ones(10, dtype=torch.bfloat16), op=dist.ReduceOp.MAX)
dist.broadcast(torch.empty(2, dtype=torch.int64), src=3)
dist.broadcast(torch.empty(2, dtype=torch.int64), src=1)
dist.reduce(torch.ones(3, dtype=torch.float64), dst=3, group=odd, async_op=True).wait()
dist.all_to_all_single(torch.empty(8), torch.ones(10), [2, 2, 2, 2], [1, 2, 3, 4])
dist.send(torch.ones(3, dtype=torch.uint8), dst=2, tag=5)
dist.recv(torch.empty(3, dtype=torch.uint8))
pg._start_coalescing(torch.device("cpu"))
dist.all_reduce(torch.ones(1))
dist.isend(torch.ones(1), dst=0)
pg._end_coalescing(torch.device("cpu")).wait()
outs = [torch.empty(8), torch.empty(8, dtype=torch.float64)]
ins = [torch.ones(2), torch.ones(2, dtype=torch.float64)]
work = pg.allgather_into_tensor_coalesced(outs, ins)
work.get_future().wait()
dist.gather(torch.tensor([True, False]), [torch.empty(2, dtype=torch.bool) for _ in range(4)], dst=1)
dist.scatter(torch.empty(1, dtype=torch.complex64), src=0)
dist.reduce_scatter_tensor(torch.empty(1, dtype=torch.float16), torch.ones(4, dtype=torch.float16))
dist.barrier()
