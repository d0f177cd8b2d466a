# SPDX-License-Identifier: Apache-2.0
"""Puts the Prism agent into a PyTorch program.

`import torch` calls autoload() at its very end, through the entry point group "torch.backends". Only
the process that the coordinator started has a socket to it; in every other process that inherits
this folder on its path (data-loader workers, programs that the script runs) nothing happens.
"""

import os
import stat
import sys

_BUG = 70


def _socket_of_this_process():
    """The number of the socket to the coordinator, or None where this process has none."""
    number = os.environ.pop("PRISM_AGENT_FD", None)
    script = os.environ.get("PRISM_AGENT_SCRIPT")
    if number is None or script not in sys.orig_argv:
        return None  # a child of the rank, started before it imported torch
    try:
        fd = int(number)
        return fd if stat.S_ISSOCK(os.fstat(fd).st_mode) else None
    except (ValueError, OSError):
        return None


def _marks_folder_of_this_process():
    """Where this process writes its marks; None unless it is a rank of a run for real."""
    folder = os.environ.get("PRISM_MARKS_FOLDER")
    if folder is None or "RANK" not in os.environ:
        return None  # torchrun itself
    return folder if os.environ.get("PRISM_AGENT_SCRIPT") in sys.orig_argv[1:3] else None


def autoload():
    fd = _socket_of_this_process()
    marks_folder = _marks_folder_of_this_process()
    if fd is None and marks_folder is None:
        return
    try:
        if fd is not None:
            from prism_torch_hook import _install

            _install.install(fd)
        else:
            from prism_torch_hook import _observe

            _observe.install(marks_folder)
    except BaseException:  # whatever it is: the rank must not run without interception
        import traceback

        sys.stderr.write(
            "prism: the agent could not be put into this program, so it is ended here:\n"
            + traceback.format_exc()
        )
        sys.stderr.flush()
        os._exit(_BUG)
