# SPDX-License-Identifier: Apache-2.0
"""Builds the plugins of these tests and runs `prism plugin check` on them. PRISM_PROGRAM, PRISM_TEST_CC,
PRISM_TEST_CXX: program and compilers."""

import json
import os
import pathlib
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
INCLUDE = HERE.parents[1] / "sdk" / "include"
PRISM = os.environ["PRISM_PROGRAM"]
CC = os.environ.get("PRISM_TEST_CC", "cc")
CXX = os.environ.get("PRISM_TEST_CXX", "c++")
MANIFEST = """manifest = 1
[plugin]
id = "mutant"
version = "0.1.0"
library = "libprism_mutant.so"
[abi]
major = 1
min_host_minor = 0
[provides]
interfaces = ["prism.{kind}/1"]
"""
NAMES = ['-DPRISM_PLUGIN_ID="mutant"', '-DPRISM_PLUGIN_VERSION="0.1.0"']


def write_manifest(folder, kind, more=""):
    folder.mkdir(exist_ok=True)
    (folder / "plugin.toml").write_text(MANIFEST.format(kind=kind) + more)


def build_mutant(root, kind, mutant, flags=()):
    """The folder of the plugin mutants/`kind`.c with these mutations, words of `mutant`."""
    folder = root / f"{kind}-{mutant.replace(' ', '-')}"
    write_manifest(folder, kind)
    subprocess.run(
        [CC, "-std=gnu11", "-O1", "-shared", "-fPIC", "-fvisibility=hidden", f"-I{INCLUDE}", *NAMES,
         *(f"-DMUTANT_{one}" for one in mutant.split()),
         str(HERE / "mutants" / "plugin.c"), str(HERE / "mutants" / f"{kind}.c"),
         "-o", str(folder / "libprism_mutant.so"), *flags],
        check=True)
    return folder


def build_hostile(root):
    folder = root / "hostile"
    write_manifest(folder, "router")
    subprocess.run(
        [CXX, "-std=c++20", "-O1", "-shared", "-fPIC", "-fvisibility=hidden", f"-I{INCLUDE}", *NAMES,
         str(HERE / "hostile.cpp"), "-o", str(folder / "libprism_mutant.so")],
        check=True)
    return folder


def build_library(file, source="", flags=()):
    """A shared library of C."""
    subprocess.run([CC, "-shared", "-fPIC", "-s", "-o", str(file), "-x", "c", *flags, "-"], input=source, text=True,
                   check=True)


def prism(*words, **options):
    return subprocess.run([PRISM, *map(str, words)], capture_output=True, text=True, timeout=120,
                          stdin=subprocess.DEVNULL, **options)


def check(folder, *flags, **options):
    return prism("plugin", "check", folder, *flags, **options)


def results(folder, *flags, **options):
    """Exit code and the document of --json."""
    done = check(folder, "--json", *flags, **options)
    return done.returncode, json.loads(done.stdout)
