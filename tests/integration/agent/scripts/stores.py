# SPDX-License-Identifier: Apache-2.0
"""Every way to meet the other ranks, none of which waits; stores that the script makes itself."""

import os
import sys
import tempfile
from datetime import timedelta

import torch
import torch.distributed as dist

how = sys.argv[1]
rank, n = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
folder = tempfile.mkdtemp()
if how == "env":
    dist.init_process_group("gloo", init_method="env://")
elif how == "tcp":
    dist.init_process_group("gloo", init_method="tcp://10.1.2.3:29511", rank=rank, world_size=n)
elif how == "file":
    dist.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=n)
elif how == "tcp_store":
    store = dist.TCPStore("10.1.2.3", 29511, n, rank == 0, timedelta(seconds=30))
    assert isinstance(store, dist.Store) and isinstance(store, dist.TCPStore)
    assert (store.host, store.port) == ("10.1.2.3", 29511)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=n)
elif how == "file_store":
    dist.init_process_group("gloo", store=dist.FileStore(f"{folder}/meet", n), rank=rank, world_size=n)
elif how == "default":
    dist.init_process_group()
dist.new_group([0, n - 1])
x = torch.ones(1)
dist.all_reduce(x)
assert x.item() == n

for store in (
    dist.PrefixStore("mine", dist.TCPStore("10.1.2.3", 29512, n, False)),
    dist.FileStore(f"{folder}/keys", n),
    dist.distributed_c10d._get_default_store(),
):
    store.set("a", "1")
    store.set("b", b"2")
    assert store.get("a") == b"1" and store.get("b") == b"2"
    assert store.add("count", 2) == 2 and store.add("count", 3) == 5 and store.get("count") == b"5"
    assert store.compare_set("a", "1", "9") == b"9" and store.get("a") == b"9"
    assert store.compare_set("a", "1", "8") == b"9"
    store.wait(["a", "b"])
    store.wait(["a"], timedelta(seconds=1))
    assert store.check(["a"])
    assert store.delete_key("a") and not store.delete_key("a")
    store.append("b", "3")
    assert store.get("b") == b"23"
    store.multi_set(["p", "q"], ["1", "2"])
    assert store.multi_get(["p", "q"]) == [b"1", b"2"]
    assert store.num_keys() > 0
    store.set_timeout(timedelta(seconds=5))
    store.clone().set("cloned", "1")
    assert store.get("cloned") == b"1"

# The same address is the same store; another rank's keys are there and empty.
store = dist.TCPStore("10.1.2.3", 29512, n, False)
assert store.get("mine/b") == b"23"
before = store.num_keys()
assert store.get("from another rank") == b""
store.wait(["from another rank", "from a third"])
assert store.num_keys() == before
dist.destroy_process_group()
print("all as expected")
