# SPDX-License-Identifier: Apache-2.0
# Sleeps for ever and ignores SIGTERM, SIGINT and SIGHUP. Expected: it is killed all the same.
import signal
import time

import torch
import torch.distributed as dist

for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
dist.init_process_group("gloo")
dist.all_reduce(torch.ones(4))
while True:
    time.sleep(1000)
