# SPDX-License-Identifier: Apache-2.0
"""Process groups: the agent's backend takes the place of gloo's and NCCL's, under their names."""

import functools
import inspect
import threading

import torch
import torch.distributed as dist
from torch.distributed import distributed_c10d as c10d

from prism_torch_hook._patch import replace

_CPU = torch.device("cpu")
_INTERCEPTED = ("gloo", "nccl")

_being_made = threading.local()  # .group: (name, description, logical ranks)
# Our backends by id, with their options: Python's object must live as long as it may be asked for.
_backends = {}


class _Replacement(type):
    """`isinstance` and attributes as the replaced class has them."""

    def __instancecheck__(cls, instance):
        return id(instance) in _backends or isinstance(instance, cls._original)

    def __getattr__(cls, name):
        return getattr(cls._original, name)


def _make_backend(name, rank, size, options):
    group = getattr(_being_made, "group", None)
    if group is None or len(group[2]) != size:
        raise RuntimeError(
            f"Prism: a {name} process group of {size} ranks was constructed directly; "
            "which ranks they are is only known to init_process_group and new_group"
        )
    group_name, description, ranks = group
    carrier = c10d.ProcessGroup(dist.HashStore(), rank, size)
    torch.ops.prism.attach(carrier.boxed(), name, rank, group_name, description, ranks)
    backend = carrier._get_backend(_CPU)
    _backends[id(backend)] = (backend, options)
    return backend


class LoneGloo(metaclass=_Replacement):
    _original = getattr(c10d, "ProcessGroupGloo", None)

    def __new__(cls, store, rank, size, timeout=None, **_):
        return _make_backend("gloo", rank, size, cls._original._Options())


class LoneNCCL(metaclass=_Replacement):
    _original = getattr(c10d, "ProcessGroupNCCL", None)

    def __new__(cls, store, rank, size, options=None, timeout=None, **_):
        if torch.cuda.device_count() == 0:
            raise ValueError("ProcessGroupNCCL is only supported with GPUs, no GPUs found!")
        return _make_backend("nccl", rank, size, options or cls._original.Options())


def _check_backends(backend):
    if c10d._use_torchcomms_enabled():
        raise RuntimeError("Prism does not intercept torchcomms: unset TORCH_DISTRIBUTED_USE_TORCHCOMMS")
    names = dict.fromkeys(map(str, c10d.BackendConfig(c10d.Backend(backend)).device_backend_map.values()))
    for name in names:
        if name not in (*_INTERCEPTED, "fake"):
            raise ValueError(f"Prism intercepts the backends gloo and nccl, not '{name}'")
    return [name for name in names if name in _INTERCEPTED]


def _check_identity(rank, size, world):
    if (rank, size) != world:
        raise ValueError(
            f"init_process_group was told rank {rank} of {size}, but this process is logical rank "
            f"{world[0]} of {world[1]}: take both from RANK and WORLD_SIZE"
        )


def _wrap_helper(original, world):
    signature = inspect.signature(original)

    @functools.wraps(original)
    def _new_process_group_helper(*args, **kwargs):
        call = signature.bind(*args, **kwargs)
        call.apply_defaults()
        call = call.arguments
        names = _check_backends(call["backend"])
        ranks = list(call["global_ranks_in_group"])
        if not ranks:
            _check_identity(call["group_rank"], call["group_size"], world)
            ranks = list(range(call["group_size"]))
        description = call["group_desc"] or "undefined"
        _being_made.group = (str(call["group_name"]), description, ranks)
        try:
            group, store = original(*args, **kwargs)
        finally:
            _being_made.group = None
        if group is c10d.GroupMember.NON_GROUP_MEMBER:
            for name in names:
                torch.ops.prism.foreign_group(name, str(call["group_name"]), description, ranks)
        elif "gloo" in names:
            _be_custom(group)
        return group, store

    return _new_process_group_helper


def _be_custom(group):
    """DistributedDataParallel's logger takes whatever a group of type GLOO holds for a
    ProcessGroupGloo, and crashes. Python goes by the name, which stays."""
    types = c10d.ProcessGroup.BackendType
    if group._get_backend_name() == "gloo":
        group._register_backend(_CPU, types.CUSTOM, group._get_backend(_CPU))
        group._set_default_backend(types.CUSTOM)


def _complete_backend_class():
    """What callers find on the concrete classes and not on their base."""
    base = torch._C._distributed_c10d.Backend
    if not hasattr(base, "options"):
        base.options = property(lambda self: _backends.get(id(self), (self, None))[1])
    for name in ("register_mem_pool", "deregister_mem_pool", "perform_nocolor_split", "_shutdown"):
        if not hasattr(base, name):
            setattr(base, name, lambda self, *args, **kwargs: None)
    if not hasattr(base, "comm_split_count"):
        base.comm_split_count = lambda self: 0
    if not hasattr(base, "_is_initialized"):
        base._is_initialized = lambda self: True


def _refuse_rpc(*args, **kwargs):
    raise RuntimeError("Prism does not intercept torch.distributed.rpc")


def install(rank, world_size):
    _complete_backend_class()
    for name, replacement in (("ProcessGroupGloo", LoneGloo), ("ProcessGroupNCCL", LoneNCCL)):
        if replacement._original is not None:
            replace(name, replacement)
    c10d._new_process_group_helper = _wrap_helper(
        c10d._new_process_group_helper, (rank, world_size)
    )
    c10d._get_split_source = lambda group: None  # there is no communicator to split from
    # TORCH_DISTRIBUTED_DEBUG=DETAIL would put a real gloo group around ours.
    c10d._create_process_group_wrapper = lambda wrapped_pg, **_: wrapped_pg
    if torch.distributed.rpc.is_available():
        torch.distributed.rpc.init_rpc = _refuse_rpc
