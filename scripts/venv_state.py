# SPDX-License-Identifier: Apache-2.0
"""Prints, one a line, the requirements of a lock file that a virtual environment lacks.

    venv_state.py VENV LOCK [--repair]

A package counts as there only when every file that its RECORD lists exists with the size it lists:
an installation that was killed half-way, a truncated library or a deleted file makes it missing
again. --repair removes the metadata of such a package, so that pip installs it anew instead of
believing it.
"""

import csv
import os
import re
import shutil
import sys
from pathlib import Path


def normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def complete(dist_info):
    """All files of the package exist with the recorded size. pip writes INSTALLER after them."""
    site = dist_info.parent
    try:
        if not (dist_info / "INSTALLER").exists():
            return False
        with open(dist_info / "RECORD", newline="", encoding="utf-8") as record:
            return all(
                os.stat(f"{site}/{path}").st_size == int(size)
                for path, _digest, size in csv.reader(record)
                if size
            )
    except (OSError, ValueError):
        return False


def missing(venv, lock, repair):
    installed = {}  # normalised name -> its dist-info folders
    if (venv / "pyvenv.cfg").exists():
        for dist_info in venv.glob("lib/python3.*/site-packages/*.dist-info"):
            name = dist_info.name.split("-")[0]
            installed.setdefault(normal(name), []).append(dist_info)
    for requirement in lock.read_text(encoding="utf-8").splitlines():
        name, exact, version = requirement.strip().partition("==")
        if not exact:
            continue
        found = installed.get(normal(name), [])
        broken = [d for d in found if not complete(d)]
        if repair:
            for dist_info in broken:
                shutil.rmtree(dist_info)
        right = [d for d in found if d.name.endswith(f"-{version}.dist-info")]
        if len(found) != 1 or right != found or broken:
            yield requirement


if __name__ == "__main__":
    for line in missing(Path(sys.argv[1]), Path(sys.argv[2]), "--repair" in sys.argv[3:]):
        print(line)
