#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""noise_check.py [--ranks 8] [--runs 300] [--layers 12] [--program build/release/bin/noise_check]

Measures how the ranks of a gloo job vary, and what that predicts: each rank computes the layers of a
small network on a core of its own and takes part in an all-reduce of their gradients, as under
DistributedDataParallel with one bucket. The time of every layer of every rank goes to the program
noise_check, which compares the slowest rank with what the noise of one rank alone predicts.

Needs PyTorch and a core for each rank: where ranks share cores, what one rank takes from another is
no noise of its own, and the answer would be about the scheduler. It refuses to run there."""

import argparse
import os
import subprocess
import sys
import tempfile
import time

WARM_UP = 20


def rank_main(rank, arguments, address, core, path):
    os.sched_setaffinity(0, {core})
    os.environ["OMP_NUM_THREADS"] = "1"
    import torch
    import torch.distributed as dist

    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=address, rank=rank, world_size=arguments.ranks)
    width = 384
    weights = [torch.randn(width, width) / width**0.5 for _ in range(arguments.layers)]
    gradients = torch.zeros(width * width)
    lines = []
    for run in range(-WARM_UP, arguments.runs):
        x = torch.randn(width, width)
        dist.barrier()
        for layer, weight in enumerate(weights):
            start = time.perf_counter_ns()
            x = torch.relu(x @ weight)
            if run >= 0:
                lines.append(f"{rank} {run} {layer} {time.perf_counter_ns() - start}\n")
        dist.all_reduce(gradients)
    dist.destroy_process_group()
    with open(f"{path}/{rank}", "w") as file:
        file.writelines(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[1])
    parser.add_argument("--ranks", type=int, default=8)
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--program", default="build/release/bin/noise_check")
    arguments = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < arguments.ranks:
        sys.exit(f"noise_check.py: {arguments.ranks} ranks need as many cores; here are {len(cores)}")
    import torch.multiprocessing as multiprocessing

    with tempfile.TemporaryDirectory() as path:
        context = multiprocessing.get_context("spawn")
        ranks = [
            context.Process(
                target=rank_main, args=(rank, arguments, f"file://{path}/store", cores[rank], path)
            )
            for rank in range(arguments.ranks)
        ]
        for rank in ranks:
            rank.start()
        for rank in ranks:
            rank.join()
        if any(rank.exitcode != 0 for rank in ranks):
            sys.exit("noise_check.py: a rank failed")
        with open(f"{path}/times", "w") as times:
            for rank in range(arguments.ranks):
                with open(f"{path}/{rank}") as of_rank:
                    times.write(of_rank.read())
        return subprocess.run([arguments.program, f"{path}/times"], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
