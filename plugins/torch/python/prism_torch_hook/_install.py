# SPDX-License-Identifier: Apache-2.0
"""Loads the agent and puts all interceptions in place, in the order in which they need each other."""

import faulthandler
import importlib.util
import os
import re
import sys
import traceback

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


def _import_hook_of_the_user():
    """A module like any other, so that its change makes recordings stale."""
    path = os.environ.pop("PRISM_AGENT_HOOK", None)
    if path is None:
        return
    name = os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(name, path)
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        sys.stderr.write(f"prism: the hook {path} failed:\n{traceback.format_exc()}")
        sys.stderr.flush()
        os._exit(1)


def install(fd):
    _load_agent()
    rank = int(os.environ["PRISM_AGENT_RANK"])
    world_size = int(os.environ["PRISM_AGENT_WORLD_SIZE"])
    notes = os.environ.pop("PRISM_AGENT_CALL_NOTES_FD", None)
    if notes is not None:
        torch.ops.prism.keep_call_notes(int(notes))
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
    _import_hook_of_the_user()
