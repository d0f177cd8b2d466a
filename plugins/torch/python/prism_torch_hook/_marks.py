# SPDX-License-Identifier: Apache-2.0
"""Places in the program that are no communication: optimizer steps and the forward after them."""

import warnings

import torch
from torch.nn.modules.module import register_module_forward_pre_hook
from torch.optim.optimizer import (
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)

_FORWARD, _OPTIMIZER_BEGIN, _OPTIMIZER_END = 1, 2, 3

_report = None  # takes the kind and the name of a mark
_watch = None  # the hook on all modules, only there until the first of them runs


def _mark(kind, thing):
    _report(kind, type(thing).__name__)


def _before_step(optimizer, args, kwargs):
    _mark(_OPTIMIZER_BEGIN, optimizer)


def _after_step(optimizer, args, kwargs):
    _mark(_OPTIMIZER_END, optimizer)
    _watch_for_forward()


def _first_forward(module, args):
    """The first module to run is the outermost one."""
    global _watch
    if torch.compiler.is_compiling():
        return  # before anything else, or the compiler would break its graph here
    if _watch is not None:
        _watch.remove()
        _watch = None
        _mark(_FORWARD, module)


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
