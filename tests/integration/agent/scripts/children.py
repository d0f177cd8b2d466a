# SPDX-License-Identifier: Apache-2.0
"""Processes that this rank starts: none of them may speak to the coordinator."""

import os
import subprocess
import sys

PROBE = "import os, torch; print('child', 'PRISM_AGENT_FD' in os.environ, hasattr(torch.ops.prism, 'begin'))"

if __name__ == "__main__":
    # Before torch is there, the socket is still open and its number in the environment.
    out = os.popen(f'{sys.executable} -c "{PROBE}"').read()
    assert out == "child False False\n", out

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, Dataset


class Numbers(Dataset):
    def __len__(self):
        return 12

    def __getitem__(self, index):
        return torch.tensor([index, os.getpid()])


def main():
    dist.init_process_group("gloo")
    dist.barrier()
    me = os.getpid()
    for method in ("fork", "spawn"):
        loader = DataLoader(Numbers(), batch_size=3, num_workers=2, multiprocessing_context=method)
        rows = torch.cat(list(loader))
        assert rows[:, 0].tolist() == list(range(12))
        assert me not in rows[:, 1].tolist()
        dist.barrier()
    out = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True, check=True)
    assert out.stdout == "child False False\n", out.stdout

    child = os.fork()
    if child == 0:
        code = 1
        try:
            dist.barrier()
        except RuntimeError as error:
            code = 0 if "forked child" in str(error) else 2
        sys.exit(code)  # the whole way out: atexit and the C library's handlers
    assert os.waitpid(child, 0)[1] == 0
    dist.barrier()
    print("all as expected")


if __name__ == "__main__":
    main()
