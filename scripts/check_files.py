#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rules for every file of the repository, whatever its language.

* Source files carry the SPDX line first (after a #! line). Golden files are data, not sources.
* No file names a package host or a path of somebody's machine.
* No conflict markers, no blanks at the end of a source line, no file over 1 MB.

Exit status 1 and one line per finding, FILE:LINE: what.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE_SUFFIXES = {".h", ".hpp", ".c", ".cc", ".cpp", ".cu", ".cuh", ".py", ".sh", ".cmake"}
SOURCE_NAMES = {"CMakeLists.txt", "run"}
SPDX = "SPDX-License-Identifier: Apache-2.0"
PACKAGE_HOST = re.compile(
    r"\b(pypi|pythonhosted|npmjs|anaconda)\.(org|com)"
    r"|\b(deb|ftp|security|archive|download|ports)\.(\w+\.)?(debian|ubuntu|pytorch|nvidia)\.(org|com)"
)
MACHINE_PATH = re.compile(r"(?<![\w.$}/-])/(work|root|home)/\w")
CONFLICT = re.compile(r"^(<{7} |={7}$|>{7} )")
LARGEST = 1_000_000  # bytes


def repository_files():
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout
    return sorted(ROOT / name for name in listed.decode().split("\0") if name)


def findings(path):
    data = path.read_bytes()
    if len(data) > LARGEST:
        yield 0, f"{len(data)} bytes; large files do not belong into the repository"
    if b"\0" in data:
        return  # binary
    lines = data.decode("utf-8", errors="replace").splitlines()
    source = path.suffix in SOURCE_SUFFIXES or path.name in SOURCE_NAMES
    source = source and (ROOT / "tests/golden") not in path.parents
    if source:
        first = lines[1:2] if lines and lines[0].startswith("#!") else lines[0:1]
        if not first or SPDX not in first[0]:
            yield 1, f"the first line must hold '{SPDX}'"
    for number, line in enumerate(lines, 1):
        if PACKAGE_HOST.search(line):
            yield number, "names a package host"
        if MACHINE_PATH.search(line):
            yield number, "names a path of a machine"
        if source and line != line.rstrip():
            yield number, "blanks at the end of the line"
        if CONFLICT.match(line):
            yield number, "conflict marker"


def main():
    count = 0
    for path in repository_files():
        if not path.is_file() or path.is_symlink():
            continue
        for number, what in findings(path):
            print(f"{path.relative_to(ROOT)}:{number}: {what}")
            count += 1
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
