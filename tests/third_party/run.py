#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the programs of list.toml: under torchrun, and alone as one rank of 16 under Prism.

    run.py COPIES --work DIR [--python PYTHON] [--install] [--only NAME ...] [--prism PROGRAM]

COPIES holds the repositories: a git directory without work tree at OWNER+NAME/repo, or plain files at OWNER/NAME.
Where both exist the plain files win (some repositories are too large to copy whole). Without --prism only the torchrun
runs are made. Exit code 0 if all torchrun runs passed and, with --prism, at least eight of ten came to the end of the
program as that rank.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import textwrap
import time
import tomllib
from pathlib import Path

WORLD = 16
NEEDED = 8


def git_files(git_dir: Path, commit: str, path: str) -> dict[str, bytes]:
    """The file `path`, or everything below the folder `path`, of one commit."""
    git = ["git", f"--git-dir={git_dir}"]
    names = subprocess.run([*git, "ls-tree", "-r", "--name-only", commit, path], check=True, capture_output=True, text=True)
    read = lambda name: subprocess.run([*git, "show", f"{commit}:{name}"], check=True, capture_output=True).stdout
    return {name: read(name) for name in names.stdout.splitlines()}


def plain_files(folder: Path, path: str) -> dict[str, bytes]:
    start = folder / path
    found = [start] if start.is_file() else sorted(p for p in start.rglob("*") if p.is_file())
    return {str(p.relative_to(folder)): p.read_bytes() for p in found if "__pycache__" not in p.parts}


def python_blocks(page: str) -> str:
    """The python code blocks of a reStructuredText page, each without its indentation."""
    blocks, block = [], None
    for line in page.splitlines() + ["."]:
        if line.strip() in (".. code:: python", ".. code-block:: python"):
            block = []
        elif block is not None and line.strip() and not line[0].isspace():
            blocks.append(textwrap.dedent("\n".join(block)))
            block = None
        elif block is not None:
            block.append(line)
    return "\n".join(blocks)


def extract(example: dict, copies: Path, target: Path) -> Path:
    """Writes the example's files below target and returns its script."""
    owner_name = example["repository"]
    plain, git_dir = copies / owner_name, copies / owner_name.replace("/", "+") / "repo"
    files = {}
    for path in [example["path"], *example.get("files", [])]:
        found = plain_files(plain, path) if plain.is_dir() else git_files(git_dir, example["commit"], path)
        if not found:
            raise SystemExit(f"{example['name']}: {owner_name} has no {path} at {plain if plain.is_dir() else git_dir}")
        files.update(found)
    for name, content in files.items():
        file = target / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    script = target / example["path"]
    if example.get("code_blocks"):
        page, script = script, script.with_suffix(".py")
        script.write_text(python_blocks(page.read_text()))
    return script


def install(python: str, packages: list[str], *how: str) -> None:
    """torch itself is never replaced."""
    where = how or ["torch==2.11.0"]
    subprocess.run([python, "-m", "pip", "install", "--quiet", *where, *packages], check=True)


def environment(example: dict, source: Path, overlay: Path) -> dict[str, str]:
    path = ([str(overlay)] if example.get("overlay") else []) + [str(source / p) for p in example.get("pythonpath", [])]
    extra = {"OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": "", **example.get("env", {})}
    return extra | ({"PYTHONPATH": os.pathsep.join(path)} if path else {})


def run(command: list[str], env: dict[str, str], cwd: Path, log: Path, timeout: float) -> dict:
    started = time.monotonic()
    with log.open("wb") as out:
        try:
            code = subprocess.run(command, env=os.environ | env, cwd=cwd, stdout=out, stderr=out, timeout=timeout).returncode
        except subprocess.TimeoutExpired:
            code = 124
    return {"command": command, "exit": code, "seconds": round(time.monotonic() - started, 1), "log": str(log)}


def experiment(example: dict, script: Path, env: dict[str, str], python: str) -> str:
    pairs = ", ".join(f"{key} = {json.dumps(value)}" for key, value in env.items())
    # The first rank of a class is the one that is executed.
    member = example["member"]
    first_ranks = ",".join(map(str, [member, *(r for r in range(WORLD) if r != member)]))
    return f"""
[experiment]
name = "{example["name"]}"
run_dir = "run"
[job]
script = {json.dumps(str(script))}
args = {json.dumps(example.get("args", []))}
env = {{ {pairs} }}
[parallel]
world_size = {WORLD}
classes = ["{first_ranks}"]
check_replicas = 0
[plugins]
runtime = "torch"
launcher = "local"
[plugins.options.torch]
python = {json.dumps(python)}
[link.default]
latency = "25 us"
bandwidth = "12.5 GB/s"
per_message = "2 us"
[time]
repeats = 1
warmup_iterations = 0
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("copies", type=Path)
    parser.add_argument("--work", type=Path, required=True, help="folder for the extracted programs, their output, results.json")
    parser.add_argument("--python", default=sys.executable, help="interpreter with torch 2.11.0 and the listed packages")
    parser.add_argument("--install", action="store_true", help="first install the listed packages into that interpreter")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME")
    parser.add_argument("--timeout", type=float, default=600)
    parser.add_argument("--prism", help="the prism program")
    parser.add_argument("--skip-torchrun", action="store_true")
    args = parser.parse_args()
    examples = tomllib.loads((Path(__file__).parent / "list.toml").read_text())["example"]
    unknown = set(args.only) - {e["name"] for e in examples}
    if unknown:
        raise SystemExit(f"not in list.toml: {', '.join(sorted(unknown))}")
    examples = [e for e in examples if not args.only or e["name"] in args.only]
    work = args.work.resolve()
    if args.install:
        install(args.python, sorted({p for e in examples for p in e.get("packages", [])}))
        if alone := sorted({p for e in examples for p in e.get("alone", [])}):
            install(args.python, alone, "--no-deps")
    results = []
    for example in examples:
        home = work / example["name"]
        overlay = home / "overlay"
        home.mkdir(parents=True, exist_ok=True)
        if args.install and example.get("overlay"):
            install(args.python, example["overlay"], "--no-deps", "--target", str(overlay))
        script = extract(example, args.copies.resolve(), home / "source")
        env = environment(example, home / "source", overlay)
        result = {"name": example["name"]}
        if not args.skip_torchrun:
            nproc = ["--standalone", "--nproc-per-node", str(example["torchrun"])]
            command = [args.python, "-m", "torch.distributed.run", *nproc, str(script), *example.get("args", [])]
            result["torchrun"] = run(command, env, script.parent, home / "torchrun.log", args.timeout)
        if args.prism:
            (home / "experiment.toml").write_text(experiment(example, script, env, args.python))
            command = [args.prism, "run", str(home / "experiment.toml")]
            shutil.rmtree(home / "run", ignore_errors=True)
            result["prism"] = run(command, {}, home, home / "prism.log", args.timeout)
            # Written once the rank has come to its end. What follows, the prediction, needs a job whose ranks are all
            # alike, which not every example is.
            sealed = home / "run" / "ranks" / f"{example['member']:05d}" / "inputs"
            result["prism"]["rank_ended"] = sealed.exists()
        results.append(result)
        if args.prism:
            print(f"{example['name']:28s} rank {example['member']} of {WORLD}: {'ended' if sealed.exists() else 'did not end'}")
        ends = (f"{way} exit {result[way]['exit']} in {result[way]['seconds']} s" for way in ("torchrun", "prism") if way in result)
        print(f"{example['name']:28s} {', '.join(ends)}", flush=True)
    (work / "results.json").write_text(json.dumps(results, indent=1))

    failed = [r["name"] for r in results if r.get("torchrun", {}).get("exit", 0) != 0]
    ended = sum(r["prism"]["rank_ended"] for r in results) if args.prism else None
    if failed:
        print(f"torchrun failed: {', '.join(failed)}")
    if ended is not None:
        print(f"prism: {ended} of {len(results)} ran to their end")
    return 1 if failed or (ended is not None and ended < min(NEEDED, len(results))) else 0


if __name__ == "__main__":
    sys.exit(main())
