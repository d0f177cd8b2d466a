# SPDX-License-Identifier: Apache-2.0
# Kills itself with the signal named by its argument (SIGKILL, SIGSEGV, SIGABRT, SIGTERM) after one all-reduce.
# Expected: the signal is named with the rank, exit code 1.
import os
import signal
import sys

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
dist.all_reduce(torch.ones(4))
os.kill(os.getpid(), signal.Signals[sys.argv[1]])
