# SPDX-License-Identifier: Apache-2.0
"""Every collective and message, in odd types and layouts; asserts what arrives. For any world size."""

import torch
import torch.distributed as dist
from torch.distributed import ReduceOp

dist.init_process_group("gloo")
rank, n = dist.get_rank(), dist.get_world_size()
assert dist.get_backend() == "gloo", dist.get_backend()
other = (rank + 1) % n
pg = dist.group.WORLD

FLOATS = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
INTS = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64]
UNSIGNED = [torch.uint16, torch.uint32, torch.uint64]
COMPLEX = [torch.complex64, torch.complex128]
FP8 = [torch.float8_e4m3fn, torch.float8_e5m2]
ALL = FLOATS + INTS + UNSIGNED + COMPLEX + FP8 + [torch.bool]


def same(got, wanted):
    assert got.dtype == wanted.dtype and got.shape == wanted.shape, (got, wanted)
    wide = (lambda t: t.to(torch.float64)) if got.dtype in FP8 + UNSIGNED else (lambda t: t)
    assert torch.equal(wide(got), wide(wanted)), (got, wanted)


def values(dtype, count=6):
    return torch.arange(count).remainder(3).to(dtype)


def is_fill(tensor):
    """What a rank gets that is not the source, and whose buffer nobody has written to."""
    if tensor.dtype.is_floating_point or tensor.dtype.is_complex:
        wide = torch.view_as_real(tensor) if tensor.dtype.is_complex else tensor
        wide = wide.to(torch.float64)
        assert torch.isfinite(wide).all() and wide.abs().max() < 0.2, tensor
        if wide.numel() > 1000 and tensor.dtype not in FP8:
            assert 0.01 < wide.std() < 0.03, wide.std()
    else:
        assert not tensor.to(torch.int64).any(), tensor


# all_reduce
for dtype in FLOATS + INTS + COMPLEX + UNSIGNED + FP8:
    x = values(dtype)
    dist.all_reduce(x)
    scaled = values(torch.float32) * n if dtype in FP8 else None
    same(x, scaled.to(dtype) if dtype in FP8 else (torch.arange(6) % 3 * n).to(dtype))
x = torch.tensor([2, 3])
dist.all_reduce(x, op=ReduceOp.PRODUCT)
same(x, torch.tensor([2**n, 3**n]))
x = torch.tensor([0.5, -2.0])
dist.all_reduce(x, op=ReduceOp.PRODUCT)
same(x, torch.tensor([0.5**n, (-2.0) ** n]))
for op in (ReduceOp.AVG, ReduceOp.MIN, ReduceOp.MAX):
    for dtype in FLOATS + INTS:
        x = values(dtype)
        dist.all_reduce(x, op=op)
        same(x, values(dtype))
for op, wanted in ((ReduceOp.BAND, 6), (ReduceOp.BOR, 6), (ReduceOp.BXOR, 6 if n % 2 else 0)):
    x = torch.tensor([6, 0])
    dist.all_reduce(x, op=op)
    same(x, torch.tensor([wanted, 0]))
for op in (ReduceOp.SUM, ReduceOp.MAX, ReduceOp.PRODUCT):
    x = torch.tensor([True, False])
    dist.all_reduce(x, op=op)
    same(x, torch.tensor([True, False]))
x = torch.tensor([1.0, 2.0])
dist.all_reduce(x, op=dist._make_nccl_premul_sum(0.5))
same(x, torch.tensor([0.5, 1.0]) * n)
x = torch.tensor([1.0, 2.0])
dist.all_reduce(x, op=dist._make_nccl_premul_sum(torch.tensor([0.25])))
same(x, torch.tensor([0.25, 0.5]) * n)
x = torch.arange(12.0).view(3, 4)
strided = x.t()
dist.all_reduce(strided)
same(x, torch.arange(12.0).view(3, 4) * n)
x = torch.zeros(0)
dist.all_reduce(x)
x = torch.tensor(3.0)  # no dimension
dist.all_reduce(x)
same(x, torch.tensor(3.0 * n))

# reduce: only the root gets anything
for root in {rank, other}:
    x = torch.ones(3)
    dist.reduce(x, dst=root)
    same(x, torch.ones(3) * (n if root == rank else 1))

# all_gather
for dtype in ALL:
    out = [torch.empty(6, dtype=dtype) for _ in range(n)]
    dist.all_gather(out, values(dtype))
    for part in out:
        same(part, values(dtype))
    out = torch.empty(n * 6, dtype=dtype)
    dist.all_gather_into_tensor(out, values(dtype))
    same(out, torch.cat([values(torch.float32)] * n).to(dtype))
out = torch.full((n, 3, 2), -1.0)
dist.all_gather_into_tensor(out, torch.arange(6.0).view(3, 2))
same(out, torch.arange(6.0).view(1, 3, 2).expand(n, 3, 2).contiguous())
out = [torch.zeros(4, 3).t() for _ in range(n)]
dist.all_gather(out, torch.arange(12.0).view(3, 4))
for part in out:
    same(part, torch.arange(12.0).view(3, 4))
whole = torch.zeros(n * 5)  # in place: the input is this rank's part of the output
whole[rank * 5 : rank * 5 + 5] = torch.arange(5.0)
dist.all_gather_into_tensor(whole, whole[rank * 5 : rank * 5 + 5])
same(whole, torch.arange(5.0).repeat(n))

# reduce_scatter
for dtype in FLOATS + INTS + COMPLEX:
    out = torch.empty(2, dtype=dtype)
    dist.reduce_scatter_tensor(out, values(dtype, 2 * n))
    same(out, ((torch.arange(2 * n) % 3)[2 * rank : 2 * rank + 2] * n).to(dtype))
out = torch.empty(2, 2)
dist.reduce_scatter(out, [torch.full((2, 2), float(i)) for i in range(n)], op=ReduceOp.AVG)
same(out, torch.full((2, 2), float(rank)))
whole = torch.arange(3.0 * n)
dist.reduce_scatter_tensor(whole[3 * rank : 3 * rank + 3], whole)
same(whole[3 * rank : 3 * rank + 3], torch.arange(3.0 * n)[3 * rank : 3 * rank + 3] * n)

# all_to_all
for dtype in ALL:
    out = torch.empty(2 * n, dtype=dtype)
    dist.all_to_all_single(out, values(dtype, 2 * n))
    same(out, values(dtype, 2 * n))
send = [i + 1 for i in range(n)]
recv = [rank + 1] * n  # every peer sends to me what fits position `rank`
x = torch.arange(float(sum(send))).view(-1, 1).expand(-1, 3).contiguous()
out = torch.empty(sum(recv), 3)
dist.all_to_all_single(out, x, recv, send)
mine = x.split(send)
same(out[rank * (rank + 1) : (rank + 1) * (rank + 1)], mine[rank])
for i, part in enumerate(out.split(recv)):
    rows = mine[i].repeat(rank + 1, 1)[: rank + 1]
    same(part, rows)
out = torch.empty(2, 3)
dist.all_to_all_single(out, torch.empty(0, 3), [0] * (n - 1) + [2], [0] * n)
is_fill(out)
ins = [torch.full((i + 1,), float(i)) for i in range(n)]
outs = [torch.empty(rank + 1) for _ in range(n)]
dist.all_to_all(outs, ins)
for i, part in enumerate(outs):
    same(part, torch.full((rank + 1,), float(i)))

# broadcast, scatter, gather
x = torch.arange(4)
dist.broadcast(x, src=rank)
same(x, torch.arange(4))
if n > 1:
    for dtype in ALL:
        x = torch.empty(3000, dtype=dtype)
        dist.broadcast(x, src=other)
        is_fill(x)
    x = torch.empty(60, 50).t()
    x.view(torch.int32).fill_(-1)  # all NaN, and version 1: it counts as written to
    x = x.detach().clone()  # version 0 again
    dist.broadcast(x, src=other)
    is_fill(x)
    a, b = torch.empty(2000), torch.empty(2000)
    dist.broadcast(a, src=other)
    dist.broadcast(b, src=other)
    assert not torch.equal(a, b), "two broadcasts, one content"
    kept = torch.empty(3).fill_(7.0)
    dist.broadcast(kept, src=other)
    same(kept, torch.full((3,), 7.0))
    out = torch.empty(2000)
    dist.scatter(out, src=other)
    is_fill(out)
    dist.gather(torch.ones(2), dst=other)
out = torch.empty(2)
dist.scatter(out, [torch.full((2,), float(i)) for i in range(n)], src=rank)
same(out, torch.full((2,), float(rank)))
out = [torch.empty(2, dtype=torch.int32) for _ in range(n)]
dist.gather(torch.tensor([4, 5], dtype=torch.int32), out, dst=rank)
for part in out:
    same(part, torch.tensor([4, 5], dtype=torch.int32))

# lists of tensors in one operation
xs = [torch.ones(2), torch.ones(3)]
with dist._coalescing_manager(pg):
    for x in xs:
        dist.all_reduce(x)
for x in xs:
    same(x, torch.full_like(x, n))
outs, ins = [torch.empty(2 * n), torch.empty(3 * n)], [torch.ones(2), torch.arange(3.0)]
with dist._coalescing_manager(pg, async_ops=True) as manager:
    for out, x in zip(outs, ins):
        dist.all_gather_into_tensor(out, x)
manager.wait()
for out, x in zip(outs, ins):
    same(out, x.repeat(n))
outs, ins = [torch.empty(2), torch.empty(1)], [torch.ones(2 * n), torch.arange(1.0 * n)]
with dist._coalescing_manager(pg):
    for out, x in zip(outs, ins):
        dist.reduce_scatter_tensor(out, x)
same(outs[0], torch.full((2,), float(n)))
same(outs[1], torch.tensor([float(rank * n)]))
dist.all_reduce_coalesced([torch.ones(1), torch.ones(2)])
lists = [[torch.empty(2), torch.empty(3)] for _ in range(n)]
dist.all_gather_coalesced(lists, [torch.ones(2), torch.arange(3.0)])
for a, b in lists:
    same(a, torch.ones(2))
    same(b, torch.arange(3.0))

# sparse
x = torch.sparse_coo_tensor(torch.tensor([[1, 3]]), torch.tensor([2.0, 4.0]), (5,))
dist.all_reduce(x)
same(x.to_dense(), torch.tensor([0, 2.0, 0, 4.0, 0]) * n)

# messages
if n > 1:
    dist.send(torch.ones(3), dst=other, tag=7)
    x = torch.empty(2500)
    assert dist.recv(x, src=other, tag=8) == other
    is_fill(x)
    x = torch.empty(4, dtype=torch.int64)
    source = dist.recv(x)
    assert source != rank and 0 <= source < n, source
    is_fill(x)
    works = dist.batch_isend_irecv(
        [
            dist.P2POp(dist.isend, torch.ones(2), other),
            dist.P2POp(dist.irecv, x := torch.empty(2), other),
        ]
    )
    for work in works:
        work.wait()
    is_fill(x)

# coalesced with a device: one Work for all
pg._start_coalescing(torch.device("cpu"))
dist.all_reduce(a := torch.ones(2))
dist.all_reduce(b := torch.ones(2))
work = pg._end_coalescing(torch.device("cpu"))
work.wait()
same(a, torch.full((2,), float(n)))
same(b, torch.full((2,), float(n)))

# Work and Future
x = torch.ones(2)
work = dist.all_reduce(x, async_op=True)
assert work.is_completed() and work.is_success()
work.wait()
x = torch.ones(2)
future = dist.all_reduce(x, async_op=True).get_future()
same(future.then(lambda f: f.value()[0] * 2).wait(), torch.full((2,), 2.0 * n))
work = dist.all_reduce(torch.ones(1), async_op=True)
same(work.result()[0], torch.tensor([float(n)]))

dist.barrier()
dist.barrier(async_op=True).wait()
dist.monitored_barrier()

# Below autograd and below version counters, as memory that a library writes to.
leaf = torch.ones(2, requires_grad=True)
dist.all_reduce(leaf.data)
with torch.no_grad():
    dist.all_reduce(leaf)
doubled = leaf * leaf
dist.all_reduce(leaf.detach())
doubled.sum().backward()
with torch.inference_mode():
    x = torch.ones(2)
    y = torch.empty(2)
dist.all_reduce(x)
assert x.tolist() == [float(n)] * 2
if n > 1:
    dist.broadcast(y, src=other)
torch.manual_seed(3)
first = torch.rand(2)
torch.manual_seed(3)
if n > 1:
    dist.broadcast(torch.empty(100), src=other)
same(torch.rand(2), first)  # the program's random numbers are its own

assert pg._get_backend(torch.device("cpu")).name() == "gloo"
assert isinstance(pg._get_backend(torch.device("cpu")), dist.ProcessGroupGloo)
assert pg._get_backend(torch.device("cpu")).options is not None
dist.destroy_process_group()
print("all as expected")
