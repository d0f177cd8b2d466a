# SPDX-License-Identifier: Apache-2.0
"""Ends in the way that the argument names."""

import os
import sys
import threading

how = sys.argv[1]
assert sys.argv == [__file__, how] and __name__ == "__main__"
assert sys.path[0] == os.path.dirname(__file__)
if how == "raise_before_torch":
    raise ValueError("before torch")
import torch.distributed as dist

import helper_module

assert helper_module.VALUE == 42
if how == "raise_before_init":
    raise ValueError("before init")
if how != "never_init":
    dist.init_process_group("gloo")
    dist.barrier()
print("this was written", end="")
if how == "raise":
    raise ValueError("im Übrigen \udcff")
if how == "raise_own_hook":
    sys.excepthook = lambda *args: print("my hook", file=sys.stderr)
    raise ValueError("seen by my hook")
if how == "exit_0":
    sys.exit(0)
if how == "exit_3":
    sys.exit(3)
if how == "exit_text":
    sys.exit("a reason")
if how == "raise_system_exit_4":
    raise SystemExit(4)
if how == "os_exit_5":
    sys.stdout.flush()
    os._exit(5)
if how == "kill":
    sys.stdout.flush()
    os.kill(os.getpid(), 9)
if how == "thread_exit":
    thread = threading.Thread(target=sys.exit, args=(6,))
    thread.start()
    thread.join()
if how == "caught":
    try:
        raise ValueError("caught")
    except ValueError:
        pass
if how == "wrong_rank":
    dist.destroy_process_group()
    dist.init_process_group("gloo", rank=0, world_size=2)
if how == "rpc":
    from torch.distributed import rpc

    rpc.init_rpc("worker")
if how == "direct":
    dist.ProcessGroupGloo(dist.HashStore(), 0, 2)
