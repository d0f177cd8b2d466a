# SPDX-License-Identifier: Apache-2.0
"""Replacing what torch.distributed offers."""

import importlib.abc
import importlib.util
import sys


def replace(name, new):
    """Puts `new` in the place of torch.distributed's `name`, wherever it was imported to. Returns
    what was there."""
    from torch.distributed import distributed_c10d

    old = getattr(distributed_c10d, name, None) or getattr(sys.modules["torch.distributed"], name)
    for module_name, module in list(sys.modules.items()):
        if module_name.startswith(("torch.distributed", "torch._C._distributed_c10d")):
            if getattr(module, name, None) is old:
                setattr(module, name, new)
    return old


class _AfterImport(importlib.abc.MetaPathFinder):
    def __init__(self, name, action):
        self._name = name
        self._action = action

    def find_spec(self, name, path, target=None):
        if name != self._name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        run = spec.loader.exec_module

        def exec_module(module):
            run(module)
            self._action(module)

        spec.loader.exec_module = exec_module
        return spec


def after_import(name, action):
    """Calls action(module) when the module has been imported: at once where it already is."""
    if name in sys.modules:
        action(sys.modules[name])
    else:
        sys.meta_path.insert(0, _AfterImport(name, action))
