# SPDX-License-Identifier: Apache-2.0
# Writes every byte value, invalid UTF-8, terminal escapes and a line without an end to its output. Expected: kept as
# it is in the rank's file, made harmless where it is shown.
import sys

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
dist.all_reduce(torch.ones(4))
sys.stdout.buffer.write(bytes(range(256)) * 16 + b"\xff\xfe\xc3(\x1b[2J\x1b]0;title\x07" + b"x" * 100_000)
sys.stdout.flush()
dist.destroy_process_group()
