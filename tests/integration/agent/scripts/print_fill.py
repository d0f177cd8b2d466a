# SPDX-License-Identifier: Apache-2.0
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
x = torch.empty(5)
dist.broadcast(x, src=0)
print(x.tolist())
