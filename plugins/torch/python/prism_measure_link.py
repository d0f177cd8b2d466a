# SPDX-License-Identifier: Apache-2.0
"""Measures gloo between two processes, each pinned to one core of this machine.

    python prism_measure_link.py CORE_A CORE_B [REPETITIONS]

Prints one line per figure, "name lower-quartile median upper-quartile", in ns and bytes per second:

* per_message: 64 messages of 8 bytes issued together and then waited for, per message;
* latency: 8 bytes there and back, halved, less per_message;
* bandwidth: both processes send 32 MiB to each other at the same time, which is what every step of
  a ring does; from the difference between 32 MiB and 4 MiB;
* reduce_bandwidth: what an all-reduce of 32 MiB takes beyond its two steps (prism/link/link.hpp),
  per byte that is added; at least what adding as many bytes takes without communication, since on
  a busy machine the difference of two measurements can be anything;
* copy_bandwidth: copies of 32 MiB to fresh memory, by both processes at the same time.
"""

import os
import socket
import statistics
import subprocess
import sys
import time

SMALL = 8
MEDIUM = 4 << 20
LARGE = 32 << 20
SEGMENTS = LARGE // (1 << 20) // 2  # messages in each of the two steps, see link.hpp
BURST = 64


def measure(repetitions):
    import torch
    import torch.distributed as dist

    dist.init_process_group("gloo")
    rank = dist.get_rank()
    peer = 1 - rank
    ours = {n: torch.zeros(n // 4) for n in (SMALL, MEDIUM, LARGE)}
    theirs = {n: torch.zeros(n // 4) for n in (SMALL, MEDIUM, LARGE)}

    def timed(body, count):
        dist.barrier()
        start = time.perf_counter_ns()
        for _ in range(count):
            body()
        return (time.perf_counter_ns() - start) / count

    def there_and_back():
        for turn in range(2):
            (dist.send if rank == turn else dist.recv)(ours[SMALL], peer)

    def exchange(n):
        for work in [dist.isend(ours[n], peer), dist.irecv(theirs[n], peer)]:
            work.wait()

    def burst():
        issue = dist.isend if rank == 0 else dist.irecv
        for work in [issue(ours[SMALL], peer) for _ in range(BURST)]:
            work.wait()

    samples = {"latency": [], "bandwidth": [], "per_message": [], "reduce_bandwidth": [],
               "copy_bandwidth": []}
    for repetition in range(repetitions + 1):
        per_message = timed(burst, 20) / BURST
        latency = max(timed(there_and_back, 200) / 2 - per_message, 0)
        difference = timed(lambda: exchange(LARGE), 3) - timed(lambda: exchange(MEDIUM), 6)
        per_byte = max(difference, 1) / (LARGE - MEDIUM)
        step = latency + SEGMENTS * per_message + LARGE / 2 * per_byte
        half = LARGE // 4 // 2
        alone = timed(lambda: ours[LARGE][:half].add_(theirs[LARGE][:half]), 3)
        adding = max(timed(lambda: dist.all_reduce(ours[LARGE]), 3) - 2 * step, alone)
        copying = timed(lambda: ours[LARGE].clone(), 3)
        if repetition > 0:  # the first one warms up
            samples["latency"].append(latency)
            samples["bandwidth"].append(1e9 / per_byte)
            samples["per_message"].append(per_message)
            samples["reduce_bandwidth"].append(LARGE / 2 / adding * 1e9)
            samples["copy_bandwidth"].append(LARGE / copying * 1e9)
    dist.barrier()
    dist.destroy_process_group()
    return samples


def main():
    cores = [int(core) for core in sys.argv[1:3]]
    repetitions = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    if "RANK" in os.environ:
        rank = int(os.environ["RANK"])
        os.sched_setaffinity(0, {cores[rank]})
        samples = measure(repetitions)
        if rank == 0:
            for name, values in samples.items():
                print(name, *(round(value) for value in statistics.quantiles(values, n=4)))
        return 0
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    children = [
        subprocess.Popen(
            [sys.executable, *sys.argv],
            env={**os.environ, "RANK": str(rank), "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1",
                 "MASTER_PORT": port, "OMP_NUM_THREADS": "1"},
        )
        for rank in range(2)
    ]
    return max(abs(child.wait()) for child in children)


if __name__ == "__main__":
    sys.exit(main())
