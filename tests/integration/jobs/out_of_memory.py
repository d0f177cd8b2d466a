# SPDX-License-Identifier: Apache-2.0
# Asks for 4 PiB, which no machine gives. Expected: torch's error, rank, exit code 1.
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
dist.all_reduce(torch.ones(4))
torch.empty(1 << 50, dtype=torch.float32)
