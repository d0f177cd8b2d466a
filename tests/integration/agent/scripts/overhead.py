# SPDX-License-Identifier: Apache-2.0
"""Small operations, timed: what the agent adds to each."""

import time

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
x = torch.ones(4)


def per_operation(call):
    """Microseconds; the best of many short series, since other programs may take the cores."""
    best = float("inf")
    for _ in range(60):
        start = time.perf_counter()
        for _ in range(50):
            call()
        best = min(best, (time.perf_counter() - start) / 50)
    return best * 1e6


print(f"all_reduce {per_operation(lambda: dist.all_reduce(x, op=dist.ReduceOp.MAX)):.1f} us")
print(
    "async all_reduce + wait "
    f"{per_operation(lambda: dist.all_reduce(x, op=dist.ReduceOp.MAX, async_op=True).wait()):.1f} us"
)
print(f"barrier {per_operation(dist.barrier):.1f} us")
