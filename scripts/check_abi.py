#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The plugin ABI: its headers compile alone everywhere, and nothing that is frozen changes.

    check_abi.py              all checks; exit status 1 and one line per finding
    check_abi.py --update     writes sdk/abi/ anew after a new minor version (only additions pass)

* Every header of sdk/include compiles alone: those of the ABI as C11, C17, C++17 and C++20, the
  others as C++20, with g++ and clang, warnings being errors.
* sdk/abi/prism-abi-MAJOR.abixml is a dump (abidw) of all frozen types, prism-abi-MAJOR.macros of
  all constants. Against them, headers of the same version may change in comments only; those of a
  higher minor, which need an entry in sdk/CHANGELOG.md, may add fields at the end of structs and
  new names. What is in draft/ is not frozen.
"""

import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
INCLUDE = ROOT / "sdk" / "include"
ABI = INCLUDE / "prism" / "abi"
GOLDEN = ROOT / "sdk" / "abi"
WARNINGS = ["-Wall", "-Wextra", "-pedantic", "-Werror", "-fsyntax-only", f"-I{INCLUDE}"]
CXX_WARNINGS = ["-Wshadow", "-Wconversion", "-Wold-style-cast"]


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


# Headers alone.


def compilations():
    """(header, command) for every way in which a header must compile alone."""
    for c, cxx in (("gcc", "g++"), ("clang-14", "clang++-14")):
        if not shutil.which(c):
            print(f"skipped {c}: it is not installed")
            continue
        for header in sorted(ABI.rglob("*.h")):
            for standard in ("c11", "c17"):
                yield header, [c, "-x", "c", f"-std={standard}", *WARNINGS, "-"]
            for standard in ("c++17", "c++20"):
                yield header, [cxx, "-x", "c++", f"-std={standard}", *WARNINGS, "-"]
        for header in sorted(INCLUDE.rglob("*.hpp")):
            yield header, [cxx, "-x", "c++", "-std=c++20", *WARNINGS, *CXX_WARNINGS, "-"]


def compile_alone(compilation):
    header, command = compilation
    # C wants at least one declaration, which a header of macros does not have.
    return run(*command, input=f'#include "{header.relative_to(INCLUDE)}"\nextern int declared;\n')


def header_findings():
    todo = list(compilations())
    with ThreadPoolExecutor() as pool:
        for (header, command), result in zip(todo, pool.map(compile_alone, todo)):
            if result.returncode:
                yield f"{header.relative_to(ROOT)} does not compile alone: {' '.join(command)}\n{result.stderr}"
    print(f"{len({h for h, _ in todo})} headers alone, compiled in {len(todo)} ways")


# What is frozen.


def version(text):
    return tuple(int(re.search(rf"PRISM_ABI_{part} (\d+)", text)[1]) for part in ("MAJOR", "MINOR"))


def current_version():
    return version((ABI / "version.h").read_text())


def golden(kind):
    return GOLDEN / f"prism-abi-{current_version()[0]}.{kind}"


def dump_types():
    """abidw of sdk/abi/surface.c."""
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "surface.so"
        source = GOLDEN / "surface.c"
        compiled = run("gcc", "-g", "-std=c11", "-shared", "-fPIC", f"-I{INCLUDE}", "-o", str(library), source.name,
                       cwd=GOLDEN)
        if compiled.returncode:
            raise SystemExit(f"{source}: {compiled.stderr}")
        dumped = run("abidw", "--no-corpus-path", "--no-comp-dir-path", "--no-show-locs", str(library))
        if dumped.returncode:
            raise SystemExit(f"abidw: {dumped.stderr}")
        return dumped.stdout


def dump_macros():
    """NAME VALUE of every PRISM_ macro of the stable headers, one a line."""
    headers = sorted(ABI.glob("*.h"))
    text = "".join(f'#include "prism/abi/{h.name}"\n' for h in headers)
    result = run("gcc", "-std=c11", "-dM", "-E", "-x", "c", f"-I{INCLUDE}", "-", input=text)
    if result.returncode:
        raise SystemExit(result.stderr)
    lines = (line.removeprefix("#define ") for line in result.stdout.splitlines())
    return "\n".join(sorted(line for line in lines if line.startswith("PRISM_"))) + "\n"


class Types:
    """The structs of an abixml dump: name -> [(field, offset in bits, type as text)]."""

    def __init__(self, xml):
        self.by_id = {}
        self.structs = {}
        # abidw numbers types per dump; the text of a type does not depend on the numbers.
        root = ElementTree.fromstring(xml)
        for node in root.iter():
            if "id" in node.attrib:
                self.by_id[node.attrib["id"]] = node
        for node in root.iter():
            if node.tag in ("class-decl", "union-decl") and node.get("is-declaration-only") != "yes":
                fields = []
                for member in node.iter("data-member"):
                    field = member.find("var-decl")
                    offset = int(member.get("layout-offset-in-bits", "0"))
                    fields.append((field.get("name"), offset, self.text(field.get("type-id"))))
                name = node.get("name")
                if node.get("naming-typedef-id"):
                    name = self.by_id[node.get("naming-typedef-id")].get("name")
                if not node.get("is-anonymous") or node.get("naming-typedef-id"):
                    self.structs[name] = fields

    def text(self, type_id):
        node = self.by_id[type_id]
        if node.tag == "pointer-type-def":
            return self.text(node.get("type-id")) + "*"
        if node.tag == "qualified-type-def":
            return self.text(node.get("type-id")) + " const"
        if node.tag == "array-type-def":
            return f"{self.text(node.get('type-id'))}[{node.get('dimensions')}, {node.get('size-in-bits')} bits]"
        if node.tag == "function-type":
            given = ", ".join(self.text(p.get("type-id")) for p in node.iter("parameter"))
            return f"{self.text(node.find('return').get('type-id'))}({given})"
        if node.tag == "union-decl" or (node.tag == "class-decl" and node.get("is-anonymous")):
            members = (m.find("var-decl") for m in node.iter("data-member"))
            return "{" + "; ".join(f"{self.text(m.get('type-id'))} {m.get('name')}" for m in members) + "}"
        return node.get("name")


def type_findings(old, new):
    """What of `old` is not in `new` as it was."""
    for name, fields in old.structs.items():
        if name not in new.structs:
            yield f"struct {name} is gone"
            continue
        mine = new.structs[name]
        for index, (field, offset, text) in enumerate(fields):
            if index >= len(mine) or mine[index] != (field, offset, text):
                now = "nothing" if index >= len(mine) else f"'{mine[index][2]} {mine[index][0]}' at bit {mine[index][1]}"
                yield (f"struct {name}: field {index + 1} was '{text} {field}' at bit {offset}, now it is {now}; "
                       "fields may only be added at the end")
                break


def macro_findings(old, new):
    mine = dict(line.split(" ", 1) for line in new.splitlines() if " " in line)
    for line in old.splitlines():
        name, _, value = line.partition(" ")
        if name != "PRISM_ABI_MINOR" and mine.get(name, "") != value:
            yield f"macro {name} was {value}, now it is {mine.get(name, 'gone')}"


def frozen_findings(types, macros):
    """Against the golden dumps."""
    old_types, old_macros = golden("abixml").read_text(), golden("macros").read_text()
    yield from type_findings(Types(old_types), Types(types))
    yield from macro_findings(old_macros, macros)
    old, new = version(old_macros), current_version()
    now = ".".join(map(str, new))
    with tempfile.TemporaryDirectory() as folder:
        mine = Path(folder) / "now.abixml"
        mine.write_text(types)
        difference = run("abidiff", str(golden("abixml")), str(mine))
    changed = difference.returncode != 0 or old_macros != macros
    if new == old and changed:
        yield (f"the frozen headers changed, but version.h still says {now}: raise the minor, add an entry to "
               f"sdk/CHANGELOG.md and run scripts/check_abi.py --update\n{difference.stdout}")
    if new < old:
        yield f"version.h says {now}, which is older than what sdk/abi/ was written from"
    if new != old and changed:
        yield f"sdk/abi/ is of version {'.'.join(map(str, old))}: run scripts/check_abi.py --update"


def changelog_findings():
    now = ".".join(map(str, current_version()))
    if not re.search(rf"^## {re.escape(now)}$", (ROOT / "sdk" / "CHANGELOG.md").read_text(), re.MULTILINE):
        yield f"sdk/CHANGELOG.md has no entry '## {now}'"


def update():
    types, macros = dump_types(), dump_macros()
    if golden("abixml").exists():
        old = version(golden("macros").read_text())
        findings = list(type_findings(Types(golden("abixml").read_text()), Types(types)))
        findings += macro_findings(golden("macros").read_text(), macros)
        if current_version() <= old:
            findings.append(f"version.h must be newer than {old[0]}.{old[1]}, of which sdk/abi/ is")
        if findings:
            return findings
    golden("abixml").write_text(types)
    golden("macros").write_text(macros)
    return []


def main():
    if sys.argv[1:] == ["--update"]:
        findings = update()
    elif sys.argv[1:]:
        raise SystemExit(__doc__)
    else:
        findings = [*header_findings(), *frozen_findings(dump_types(), dump_macros()), *changelog_findings()]
    for finding in findings:
        print(finding)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
