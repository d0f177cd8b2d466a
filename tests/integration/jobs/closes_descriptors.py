# SPDX-License-Identifier: Apache-2.0
# Closes every file descriptor above 2 before it communicates, as daemons and some launchers do. Expected: a clear
# error (the connection to the coordinator was closed by the job), not a hang.
import os

import torch
import torch.distributed as dist

os.closerange(3, 4096)
dist.init_process_group("gloo")
dist.all_reduce(torch.ones(4))
dist.destroy_process_group()
