#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The layer rule of the architecture, and: every header compiles alone.

    check_layers.py [--includes-only]

Layers of core, low to high; a layer may include itself and what stands lower, not its equals:
base | config, graph | collective, replay | calibrate | analysis | schedule | plugin | cli

core knows no framework and no device; plugins and the SDK know nothing of core; a plugin family
knows no other. Third-party libraries stay behind one .cpp each. Headers of the C ABI compile as C11
and as C++20, all others as C++20, with the warnings of the build.

Exit status 1 and one line per finding, FILE:LINE: what.
"""

import glob
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LEVEL = {
    layer: level
    for level, layers in enumerate(
        [["base"], ["config", "graph"], ["collective", "replay"], ["calibrate"], ["analysis"],
         ["schedule"], ["plugin"], ["cli"]]
    )
    for layer in layers
}
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')
FRAMEWORK = re.compile(
    r"^(torch|ATen|c10|caffe2|pybind11|cuda|cublas|cudnn|nccl|cupti|nvml|nvtx)([/._0-9A-Za-z-]*)$"
    r"|^Python\.h$",
)
# Third-party prefix -> where it may be included: one folder of core, and there only in .cpp files.
BEHIND_ONE_CPP = {"spdlog/": "core/base", "toml++/": "core/config", "boost/dll": "core/plugin"}
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror"]
CXX_WARNINGS = ["-Wnon-virtual-dtor", "-Wold-style-cast"]
# As the build has them: options of third-party headers, and what prism_add_plugin defines.
DEFINES = ["-DBOOST_DLL_USE_STD_FS", "-DSPDLOG_FMT_EXTERNAL", "-DXXH_INLINE_ALL",
           '-DPRISM_PLUGIN_ID="id"', '-DPRISM_PLUGIN_VERSION="0.1.0"']


def sources():
    """Our C and C++ files, relative to the root, as the parts they belong to."""
    for part in ("core", "sdk", "plugins", "tests", "bench"):
        for path in sorted((ROOT / part).rglob("*")):
            if path.suffix in (".h", ".hpp", ".c", ".cpp") and "template" not in str(path):
                yield path.relative_to(ROOT)


def includes(path):
    text = (ROOT / path).read_text(encoding="utf-8", errors="replace")
    for number, line in enumerate(text.splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(1)


def include_error(path, header):
    """Why `path` may not include `header`, or None."""
    part, layer = path.parts[0], path.parts[1]
    target = Path(header).parts
    if part == "core":
        if FRAMEWORK.match(header):
            return f"core includes '{header}': it knows no framework, device or interpreter"
        if target[0] in ("plugins", "tests", "bench"):
            return f"core includes '{header}' of {target[0]}/"
        if target[0] == "core":
            if target[1] not in LEVEL:
                return f"'{target[1]}' is no layer of core"
            if target[1] != layer and LEVEL[target[1]] >= LEVEL.get(layer, -1):
                return f"layer '{layer}' includes '{header}' of layer '{target[1]}'"
        for prefix, home in BEHIND_ONE_CPP.items():
            if header.startswith(prefix) and (path.suffix != ".cpp" or path.parent != Path(home)):
                return f"'{header}' belongs behind one .cpp of {home}"
    if part in ("sdk", "plugins"):
        if target[0] == "core":
            return f"{part} includes '{header}': {part} knows nothing of core"
        if target[0] == "plugins" and (part == "sdk" or target[1] != layer):
            return f"{'/'.join(path.parts[:2])} includes '{header}' of another part"
    if part == "sdk" and FRAMEWORK.match(header):
        return f"the SDK includes '{header}'"
    return None


def include_findings(paths):
    behind = {}  # third-party prefix -> files of core that include it
    for path in paths:
        if path.parts[0] == "core" and len(path.parts) > 2 and path.parts[1] not in LEVEL:
            yield f"{path}:1: '{path.parts[1]}' is no layer of core"
        for number, header in includes(path):
            error = include_error(path, header)
            if error:
                yield f"{path}:{number}: {error}"
            for prefix in BEHIND_ONE_CPP:
                if path.parts[0] == "core" and header.startswith(prefix):
                    behind.setdefault(prefix, set()).add(str(path))
    for prefix, files in behind.items():
        if len(files) > 1:
            yield f"{min(files)}:1: '{prefix}' is included by more than one file: {sorted(files)}"


def framework_headers(paths):
    """Headers that include torch, CUDA or Python, directly or through another of ours."""
    known = {str(p): {h for _, h in includes(p)} for p in paths}
    tainted = {p for p, headers in known.items() if any(FRAMEWORK.match(h) for h in headers)}
    while True:
        more = {
            p
            for p, headers in known.items()
            if p not in tainted
            and any(h in tainted or str(Path(p).parent / h) in tainted for h in headers)
        }
        if not more:
            return tainted
        tainted |= more


def torch_flags():
    include = glob.glob(f"{ROOT}/.venv/lib/python3*/site-packages/torch/include")
    if not include:
        return None
    return [f"-isystem{include[0]}", f"-isystem{include[0]}/torch/csrc/api/include"]


def compile_alone(path, language, extra):
    """The compiler's complaint about a file that contains nothing but this header, or ''."""
    if language == "c11":
        compiler = ["gcc", "-x", "c", "-std=c11"]
    else:
        compiler = ["g++", "-x", "c++", "-std=c++20", *CXX_WARNINGS]
    name = str(path).removeprefix("sdk/include/")
    command = [*compiler, *WARNINGS, "-fsyntax-only", "-I.", "-Isdk/include", f"-I{path.parent}",
               *DEFINES, *extra, "-"]
    source = f'#include "{name}"\n#include "{name}"\ntypedef int not_empty;\n'
    done = subprocess.run(command, cwd=ROOT, input=source, text=True, capture_output=True)
    if done.returncode == 0:
        return ""
    first = next((line for line in done.stderr.splitlines() if "error" in line), done.stderr)
    return f"{path}:1: does not compile alone as {language}: {first}"


def header_findings(paths):
    headers = [p for p in paths if p.suffix in (".h", ".hpp")]
    tainted, torch = framework_headers(headers), torch_flags()
    jobs, skipped = [], []
    for path in headers:
        if str(path) in tainted and torch is None:
            skipped.append(path)
            continue
        extra = torch if str(path) in tainted else []
        if path.suffix == ".h":
            jobs.append((path, "c11", extra))
        jobs.append((path, "c++20", extra))
    for path in skipped:
        print(f"skipped {path}: it needs torch's headers, and there is no .venv")
    with ThreadPoolExecutor(int(os.environ.get("JOBS", os.cpu_count()))) as pool:
        yield from filter(None, pool.map(lambda job: compile_alone(*job), jobs))
    print(f"{len(headers) - len(skipped)} headers compiled alone, {len(skipped)} skipped")


def main():
    paths = list(sources())
    found = list(include_findings(paths))
    if "--includes-only" not in sys.argv[1:]:
        found += header_findings(paths)
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
