# SPDX-License-Identifier: Apache-2.0
"""Places in the program that are no communication: optimizer steps and the forward after them."""

import warnings

import torch
import weakref

from torch.nn.modules.module import register_module_forward_pre_hook
from torch.optim.optimizer import (
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)

_FORWARD, _OPTIMIZER_BEGIN, _OPTIMIZER_END = 1, 2, 3

_report = None  # takes the kind and the name of a mark
_watch = None  # the hook on all modules, only there until the first of them runs


def _elements(optimizer):
    """How many numbers this rank's share of the parameters has: an uneven shard is another job."""
    count = 0
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            count += getattr(parameter, "_local_tensor", parameter).numel()
    return count


_names = weakref.WeakKeyDictionary()  # optimizer -> name; counted once, at its first step


def _before_step(optimizer, args, kwargs):
    if optimizer not in _names:
        _names[optimizer] = f"{type(optimizer).__name__} of {_elements(optimizer)} elements"
    _report(_OPTIMIZER_BEGIN, _names[optimizer])


def _after_step(optimizer, args, kwargs):
    _report(_OPTIMIZER_END, type(optimizer).__name__)
    _watch_for_forward()


def _first_forward(module, args):
    """The first module to run is the outermost one."""
    global _watch
    if torch.compiler.is_compiling():
        return  # before anything else, or the compiler would break its graph here
    if _watch is not None:
        _watch.remove()
        _watch = None
        _report(_FORWARD, type(module).__name__)


def _watch_for_forward():
    global _watch
    if _watch is None:
        _watch = register_module_forward_pre_hook(_first_forward)


def install(report):
    global _report
    warnings.filterwarnings("ignore", message="Using `torch.compile\\(module\\)` when there are global")
    _report = report
    register_optimizer_step_pre_hook(_before_step)
    register_optimizer_step_post_hook(_after_step)
    _watch_for_forward()
