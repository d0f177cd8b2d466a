# SPDX-License-Identifier: Apache-2.0
"""Communicates, then stands still, until told to end."""

import signal
import sys
import threading

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
dist.all_reduce(torch.ones(1))
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))


def standing_in_a_thread():
    threading.Event().wait()


threading.Thread(target=standing_in_a_thread, daemon=True).start()


def standing_still():
    while True:
        signal.pause()


standing_still()
