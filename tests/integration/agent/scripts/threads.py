# SPDX-License-Identifier: Apache-2.0
"""Two threads that communicate at the same time, in a group each."""

import threading

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
groups = [dist.new_group(range(8)) for _ in range(2)]
failures = []


def work(index):
    try:
        for i in range(200):
            x = torch.full((10,), float(i))
            handle = dist.all_reduce(x, group=groups[index], async_op=True)
            handle.wait()
            assert x[0] == 8 * i, x
    except BaseException as error:
        failures.append(error)


threads = [threading.Thread(target=work, args=(i,)) for i in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert not failures, failures
