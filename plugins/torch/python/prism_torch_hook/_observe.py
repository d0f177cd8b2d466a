# SPDX-License-Identifier: Apache-2.0
"""The program for real: nothing is intercepted, only its marks are written down.

The file of a rank holds frames of docs/agent-protocol.md: Hello, Marks, Bye. Each is written at once,
because gloo may abort the process while it exits.
"""

import os
import struct
import sys
import time

import torch

_HELLO, _MARK, _BYE = 1, 6, 7


def _text(text):
    data = text.encode("utf-8", "replace")
    return struct.pack("<I", len(data)) + data


def _clocks():
    return struct.pack("<qqqqI", time.monotonic_ns(), time.thread_time_ns(), 0, 0, 0)


class _Frames:
    def __init__(self, path):
        self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
        self._sequence = 0
        self._process = os.getpid()

    def write(self, kind, body):
        if os.getpid() != self._process:
            return  # a forked child, a data-loader worker for instance
        self._sequence += 1
        header = struct.pack("<IHHIIQ", 0x4D535250, 2, kind, len(body), 0, self._sequence)
        os.write(self._fd, header + body)


def install(folder):
    rank = int(os.environ["RANK"])
    cores = [int(core) for core in os.environ["PRISM_MARKS_CORES"].split(",") if core]
    if cores:
        os.sched_setaffinity(0, {cores[rank % len(cores)]})
    frames = _Frames(os.path.join(folder, f"marks.{rank}"))
    frames.write(
        _HELLO,
        struct.pack("<IIQ", rank, int(os.environ["WORLD_SIZE"]), os.getpid())
        + _text(f"torch {torch.__version__}")
        + _text("marks only")
        + _clocks(),
    )

    from prism_torch_hook import _ending, _marks

    def bye(reason, detail, files):
        frames.write(
            _BYE,
            struct.pack("<Bi", reason, 0)
            + _text(detail)
            + struct.pack("<I", len(files))
            + b"".join(map(_text, files))
            + _clocks(),
        )

    _ending.install(bye)
    _marks.install(
        lambda kind, name: frames.write(_MARK, struct.pack("<B", kind) + _text(name) + _clocks())
    )
