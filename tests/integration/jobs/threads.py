# SPDX-License-Identifier: Apache-2.0
# Communicates from two threads at once, each with a group of its own. Expected: each thread is a lane of its own; the
# order within a thread is kept.
import threading

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
groups = [dist.new_group(), dist.new_group()]


def reduce_often(group):
    for step in range(20):
        dist.all_reduce(torch.ones(4), group=group)


threads = [threading.Thread(target=reduce_often, args=(group,)) for group in groups]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
dist.destroy_process_group()
