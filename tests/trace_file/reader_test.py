#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prism's reader against an independent one, on random files.

    reader_test.py PRISM_FILE_PROGRAM
"""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import prism_reader

TRACES = 30
OBSERVATIONS = 15


def same(program, path):
    expected = subprocess.run([program, "read", path], check=True, capture_output=True).stdout
    found = prism_reader.read(path)
    if json.loads(expected) != found:
        sys.exit(f"{path}: the readers differ:\n{expected.decode()}\n{json.dumps(found)}")


def main():
    program = sys.argv[1]
    compressed = shutil.which("zstd") is not None
    if not compressed:
        print("prism: skipped compressed files: there is no program zstd")
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "file.prism")
        files = 0
        for what, count in (("write-trace", TRACES), ("write-observation", OBSERVATIONS)):
            for seed in range(count):
                for storage in ["plain"] + ["compressed"] * (compressed and seed % 5 == 0):
                    subprocess.run([program, what, str(seed), path, storage], check=True)
                    same(program, path)
                    files += 1
        # What an append has left that was cut off is left out by both, and nothing else.
        subprocess.run([program, "write-trace", "2", path, "plain"], check=True)
        whole = Path(path).read_bytes()
        Path(path).write_bytes(whole[:-1])
        cut = prism_reader.read(path)
        samples = len(cut["kinds"][0]["samples"])
        Path(path).write_bytes(whole)
        assert samples + 1 == len(prism_reader.read(path)["kinds"][0]["samples"])
    print(f"{files} files are read alike")


if __name__ == "__main__":
    main()
