#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the built files need and export.

    check_binaries.py BUILD_DIR

* The program needs the C and C++ run-time libraries and nothing else, so that it starts on another
  Linux; with it, core needs no torch, CUDA, NCCL or Python.
* A plugin exports exactly prism_plugin_v1; a companion exactly what its manifest says.

Exit status 1 and one line per finding.
"""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

PROGRAM_NEEDS = {"libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1"}
LOADER = re.compile(r"linux-vdso\.so\.|ld-linux-[\w-]+\.so\.")
ENTRY = "prism_plugin_v1"


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def needed(path):
    """Every library that the loader maps, also indirectly."""
    names = (Path(line.split()[0]).name for line in run("ldd", path).splitlines() if line.strip())
    return {name for name in names if not LOADER.match(name)}


def exported(path):
    """Defined dynamic symbols; names of symbol versions (type A) are none."""
    rows = (line.split() for line in run("nm", "-D", "--defined-only", path).splitlines())
    return {row[-1].split("@")[0] for row in rows if row[-2] != "A"}


def newest(path, family):
    """The newest version of a symbol family that a file asks for, e.g. GLIBC 2.34."""
    found = re.findall(rf"\b{family}_([0-9.]+)\b", run("readelf", "--wide", "--version-info", path))
    return max(found, key=lambda version: [int(part) for part in version.split(".")], default="-")


def program_findings(program):
    libraries = needed(program)
    for name in sorted(libraries - PROGRAM_NEEDS):
        yield f"{program}: needs {name}; link it statically or bundle it beside the program"
    print(f"{program}: needs {', '.join(sorted(libraries))};",
          ", ".join(f"{family} {newest(program, family)}" for family in ("GLIBC", "GLIBCXX")))


def some(names):
    """A few of many names, e.g. 'a, b, c and 12 more'."""
    names = sorted(names)
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def export_findings(path, expected):
    symbols = exported(path)
    if symbols - expected:
        yield f"{path}: also exports {some(symbols - expected)}"
    if expected - symbols:
        yield f"{path}: does not export {some(expected - symbols)}"
    if symbols == expected:
        print(f"{path}: exports {', '.join(sorted(symbols)) or 'nothing'}")


def plugin_findings(folder):
    manifest = tomllib.loads((folder / "plugin.toml").read_text(encoding="utf-8"))
    yield from export_findings(folder / manifest["plugin"]["library"], {ENTRY})
    for companion in manifest.get("companion", []):
        if ".so" in companion["file"]:
            yield from export_findings(folder / companion["file"], set(companion["exports"]))


def main():
    build = Path(sys.argv[1])
    found = list(program_findings(build / "bin" / "prism"))
    folders = sorted(path.parent for path in build.glob("lib/prism/plugins/abi-*/*/plugin.toml"))
    for folder in folders:
        found += plugin_findings(folder)
    if not folders:
        found.append(f"{build}: there is no plugin")
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
