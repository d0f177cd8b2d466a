# SPDX-License-Identifier: Apache-2.0
"""The store of a rank that is alone: whatever it asks for is answered at once."""

import threading

import torch
import torch.distributed as dist

from prism_torch_hook._patch import replace

_BARRIER = "store_based_barrier_key:"
_stores = {}  # by what all ranks would call it; also keeps alive what C++ holds on to
_lock = threading.RLock()


def _made_up(size=0):
    torch.ops.prism.made_up_store(size)


class _LoneStore(dist.Store):
    """Keys that this rank has set hold what it set. A key that nobody has set is there, empty, and
    counted as made up: the rank that would set it is absent."""

    def __init__(self, name):
        super().__init__()
        self._name = name
        with _lock:
            family = _stores.setdefault(name, {"data": {}, "queues": {}, "stores": []})
            family["stores"].append(self)
        self._data = family["data"]
        self._queues = family["queues"]

    @staticmethod
    def _bytes(value):
        return value.encode() if isinstance(value, str) else bytes(value)

    def set(self, key, value):
        with _lock:
            self._data[key] = self._bytes(value)

    def get(self, key):
        with _lock:
            if key not in self._data:
                _made_up()
            return self._data.get(key, b"")

    def add(self, key, amount):
        with _lock:
            total = int(self._data.get(key) or 0) + amount
            self._data[key] = str(total).encode()
            return total

    def compare_set(self, key, expected, desired):
        with _lock:
            expected, desired = self._bytes(expected), self._bytes(desired)
            if self._data.get(key, b"" if not expected else None) == expected:
                self._data[key] = desired
            return self._data.get(key, expected)

    def append(self, key, value):
        with _lock:
            self._data[key] = self._data.get(key, b"") + self._bytes(value)

    def multi_get(self, keys):
        return [self.get(key) for key in keys]

    def multi_set(self, keys, values):
        for key, value in zip(keys, values):
            self.set(key, value)

    def has_extended_api(self):
        return True

    def delete_key(self, key):
        with _lock:
            return self._data.pop(key, None) is not None

    def num_keys(self):
        return len(self._data)

    def list_keys(self):
        return list(self._data)

    def check(self, keys):
        self.wait(keys)
        return True

    def wait(self, keys, timeout=None):
        for key in keys:
            # Of torch's own barrier it is known what would be there: all have come.
            if key not in self._data and _BARRIER not in key:
                _made_up()

    def queue_push(self, key, value):
        with _lock:
            self._queues.setdefault(key, []).append(self._bytes(value))

    def queue_pop(self, key, block=True):
        with _lock:
            if self._queues.get(key):
                return self._queues[key].pop(0)
            _made_up()
            return b""

    def queue_len(self, key):
        return len(self._queues.get(key, ()))

    def clone(self):
        return _LoneStore(self._name)

    # C++ asks for these by other names than Python.
    deleteKey = delete_key
    getNumKeys = num_keys


class LoneTCPStore(_LoneStore):
    def __init__(self, host_name, port, world_size=None, is_master=False, timeout=None, **_):
        super().__init__(("tcp", host_name, port))
        self.host = host_name
        self.port = port
        if timeout is not None:
            self.set_timeout(timeout)


class LoneFileStore(_LoneStore):
    def __init__(self, file_name, world_size=-1):
        super().__init__(("file", str(file_name)))
        self.path = str(file_name)


LoneTCPStore.__name__ = LoneTCPStore.__qualname__ = "TCPStore"
LoneFileStore.__name__ = LoneFileStore.__qualname__ = "FileStore"


def install():
    replace("TCPStore", LoneTCPStore)
    replace("FileStore", LoneFileStore)
