# SPDX-License-Identifier: Apache-2.0
"""Loads the agent and puts all interceptions in place, in the order in which they need each other."""

import faulthandler
import os
import re

import torch


def _load_agent():
    library = os.environ["PRISM_AGENT_LIB"]
    found = re.match(r"(\d+)\.(\d+)", torch.__version__)
    wanted = f"libprism_agent_torch{found[1]}{found[2]}.so"
    if os.path.basename(library) != wanted:
        raise RuntimeError(
            f"torch {torch.__version__} needs {wanted}, but the agent is {library}: "
            "is this another Python than the one that was probed?"
        )
    torch.ops.load_library(library)


def install(fd):
    _load_agent()
    rank = int(os.environ["PRISM_AGENT_RANK"])
    world_size = int(os.environ["PRISM_AGENT_WORLD_SIZE"])
    torch.ops.prism.begin(fd, rank, world_size, f"torch {torch.__version__}")
    faulthandler.register(int(os.environ["PRISM_AGENT_STACK_SIGNAL"]), file=2, all_threads=True)

    from prism_torch_hook import _ending

    _ending.install(torch.ops.prism.prepare_bye)
    if torch.distributed.is_available():
        from prism_torch_hook import _groups, _received, _store

        _store.install()
        _groups.install(rank, world_size)
        _received.install()

    from prism_torch_hook import _marks

    _marks.install(torch.ops.prism.mark)
