# SPDX-License-Identifier: Apache-2.0
"""Groups of which this rank is a member and others, meshes, DTensor, functional collectives."""

import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as functional
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Replicate, Shard, distribute_module, distribute_tensor
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    RowwiseParallel,
    parallelize_module,
)

dist.init_process_group("gloo")
rank, n = dist.get_rank(), dist.get_world_size()
assert (rank, n) == (5, 16)

mine = dist.new_group([1, 5, 9], group_desc="mine")
others = dist.new_group([0, 2], group_desc="others")
assert dist.get_rank(mine) == 1 and others is dist.GroupMember.NON_GROUP_MEMBER
assert dist.get_process_group_ranks(mine) == [1, 5, 9]
assert mine.group_desc == "mine" and dist.get_backend(mine) == "gloo"
x = torch.ones(2)
dist.all_reduce(x, group=mine)
assert x.tolist() == [3, 3]
x = torch.empty(2).fill_(4)
dist.broadcast(x, src=9, group=mine)
dist.broadcast(x, group_src=0, group=mine)
alone = dist.new_group([5])
x = torch.ones(2)
dist.all_reduce(x, group=alone)
assert x.tolist() == [1, 1]
sub, _ = dist.new_subgroups(4)
assert dist.get_process_group_ranks(sub) == [4, 5, 6, 7]
pair = dist.new_group([5, 6], use_local_synchronization=True)
dist.all_reduce(x, group=pair)

mesh = init_device_mesh("cpu", (4, 4), mesh_dim_names=("dp", "tp"))
assert list(mesh.get_coordinate()) == [1, 1]
torch.manual_seed(1)
full = torch.randn(8, 12)
for placements in ([Shard(0), Shard(1)], [Replicate(), Shard(0)], [Replicate(), Replicate()]):
    tensor = distribute_tensor(full, mesh, placements)
    local = DTensor.from_local(tensor.to_local(), mesh, placements, run_check=False)
    wanted = full
    for dimension, placement in enumerate(placements):
        if isinstance(placement, Shard):
            wanted = wanted.chunk(4, placement.dim)[1]
    assert torch.equal(tensor.to_local(), wanted), "peers were to mirror this rank"
    assert local.full_tensor().shape == (8, 12)
tensor = distribute_tensor(full, mesh["tp"], [Shard(0)])
assert tensor.redistribute(placements=[Replicate()]).to_local().shape == (8, 12)
assert tensor.redistribute(placements=[Shard(1)]).to_local().shape == (8, 3)
assert tensor.sum().full_tensor().isfinite()

model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 16), nn.LayerNorm(16))
weight = model[3].weight.detach().clone()
model = parallelize_module(model, mesh["tp"], {"0": ColwiseParallel(), "2": RowwiseParallel()})
model[3] = distribute_module(model[3], mesh["tp"])
assert torch.equal(model[3].weight.to_local(), weight)
out = model[2](model[1](model[0](torch.randn(4, 16))))
out.sum().backward()
assert out.shape == (4, 16) and model[0].weight.grad.to_local().shape == (8, 16)

group = mesh.get_group("tp")
x = torch.arange(8.0)
assert torch.equal(functional.all_reduce(x, "sum", group).wait(), x * 4)
assert functional.all_gather_tensor(x, 0, group).wait().shape == (32,)
assert torch.equal(functional.reduce_scatter_tensor(x, "avg", 0, group).wait(), x[2:4])
assert functional.all_to_all_single(x, [2, 2, 2, 2], [2, 2, 2, 2], group).wait().shape == (8,)
assert torch.equal(functional.broadcast(x, 1, group).wait(), x)
assert functional.broadcast(x, 0, group).wait().shape == (8,)
assert torch.equal(functional.all_reduce_coalesced([x, x], "max", group)[1].wait(), x)
assert functional.all_gather_into_tensor_coalesced([x, x], group)[0].wait().shape == (32,)
a, b = functional.reduce_scatter_tensor_coalesced([x, x], "sum", [0, 0], group)
assert torch.equal(a.wait(), x[2:4] * 4)
x.requires_grad_()
functional.all_gather_tensor_autograd(x, 0, group).square().sum().backward()
assert x.grad.shape == (8,)

try:
    dist.new_group([0, 5], backend="mpi")
except (ValueError, RuntimeError) as error:
    assert "mpi" in str(error).lower(), error
else:
    raise AssertionError("mpi is not intercepted")
dist.destroy_process_group()
print("all as expected")
