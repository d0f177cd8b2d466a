# SPDX-License-Identifier: Apache-2.0
# Leaves with sys.exit("text"): Python prints the text and ends with 1. Expected: the text is shown, exit code 1.
import sys

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
dist.all_reduce(torch.ones(4))
sys.exit("the checkpoint is of another model")
