# SPDX-License-Identifier: Apache-2.0
# Leaves with os._exit(5): no Python clean-up, no destroy, no word on its output. Expected: reported, exit code 1.
import os

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
dist.all_reduce(torch.ones(4))
os._exit(5)
