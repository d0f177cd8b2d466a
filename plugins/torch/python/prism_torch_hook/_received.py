# SPDX-License-Identifier: Apache-2.0
"""What arrives where this rank is not the source and any number would not do: pickled objects, and
buffers that are known to hold already what the source holds."""

import functools

import torch
import torch.distributed as dist
from torch.distributed import distributed_c10d as c10d

from prism_torch_hook._patch import after_import, replace


def _pickled(objects, group):
    """Sizes and bytes as they travel; None for an object that cannot."""
    tensors = []
    for item in objects:
        try:
            tensors.append(c10d._object_to_tensor(item, "cpu", group))
        except Exception:
            tensors.append(c10d._object_to_tensor(None, "cpu", group))
    if not tensors:
        return torch.empty(0, dtype=torch.long), torch.empty(0, dtype=torch.uint8)
    return torch.cat([size for _, size in tensors]), torch.cat([data for data, _ in tensors])


def _expecting(values, call):
    torch.ops.prism.expect(values)
    try:
        return call()
    finally:
        torch.ops.prism.expect([])


def _wrap_list(original):
    """For broadcast_object_list and recv_object_list: what arrives are this rank's own objects."""

    @functools.wraps(original)
    def wrapped(object_list, *args, **kwargs):
        call = functools.partial(original, object_list, *args, **kwargs)
        if not isinstance(object_list, list):
            return call()
        sizes, data = _pickled(object_list, kwargs.get("group"))
        return _expecting([sizes, data], call)

    return wrapped


def _wrap_scatter(original):
    @functools.wraps(original)
    def scatter_object_list(
        scatter_object_output_list, scatter_object_input_list=None, *args, **kwargs
    ):
        group = kwargs.get("group", args[1] if len(args) > 1 else None)
        position = dist.get_rank(group)
        own = None
        if scatter_object_input_list and 0 <= position < len(scatter_object_input_list):
            own = scatter_object_input_list[position]
        size, data = _pickled([own], group)
        return _expecting(
            [size, data, size],
            functools.partial(
                original, scatter_object_output_list, scatter_object_input_list, *args, **kwargs
            ),
        )

    return scatter_object_list


def _keeping(original):
    """Received buffers keep what they hold: the program makes the same on every rank."""

    @functools.wraps(original)
    def wrapped(*args, **kwargs):
        torch.ops.prism.keep(True)
        try:
            return original(*args, **kwargs)
        finally:
            torch.ops.prism.keep(False)

    return wrapped


def _patch_dtensor(module):
    """DTensor distributes a tensor that every rank has made in full."""
    mesh_scatter = module.mesh_scatter

    @functools.wraps(mesh_scatter)
    def scatter(output, scatter_list, mesh, mesh_dim=0, *args, **kwargs):
        call = functools.partial(
            mesh_scatter, output, scatter_list, mesh, mesh_dim, *args, **kwargs
        )
        if output.is_meta:
            return call()
        return _expecting([scatter_list[mesh.get_local_rank(mesh_dim)]], call)

    module.mesh_scatter = scatter
    module.mesh_broadcast = _keeping(module.mesh_broadcast)


def install():
    for name in ("broadcast_object_list", "recv_object_list"):
        replace(name, _wrap_list(getattr(c10d, name)))
    replace("scatter_object_list", _wrap_scatter(c10d.scatter_object_list))
    # Echoed sizes and bytes fit each other; a rule for made-up values would not know of them.
    for name in ("all_gather_object", "gather_object"):
        replace(name, _keeping(getattr(c10d, name)))
    # DistributedDataParallel and FullyShardedDataParallel: parameters and buffers at the start,
    # shapes that are compared with rank 0's, buckets that rank 0 has arranged.
    for name in ("_broadcast_coalesced", "_verify_params_across_processes"):
        replace(name, _keeping(getattr(dist, name)))
    reducer = torch._C._distributed_c10d.Reducer
    reducer._rebuild_buckets = _keeping(reducer._rebuild_buckets)
    after_import("torch.distributed.tensor._collective_utils", _patch_dtensor)
