# SPDX-License-Identifier: Apache-2.0
"""Runs `prism plugin check` for the tests of this folder."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

PROGRAM, ROOT = sys.argv[1], sys.argv[2]
LIMIT_S = 120  # nothing here takes longer unless it hangs


def prism(*words, env=None):
    """The finished process; text, both streams captured."""
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, timeout=LIMIT_S,
                          env=env, stdin=subprocess.DEVNULL)


def check(plugin, *words, env=None):
    """Exit code and the document of --json."""
    done = prism("plugin", "check", f"{ROOT}/{plugin}", "--json", *words, env=env)
    if not done.stdout:
        raise AssertionError(f"{plugin}: no output; exit code {done.returncode}: {done.stderr}")
    return done.returncode, json.loads(done.stdout)


def report(name, findings):
    """Prints the findings of each case and ends the process accordingly."""
    wrong = [finding for finding in findings if finding]
    for finding in wrong:
        print(f"FAILED {finding}")
    print(f"{name}: {len(findings) - len(wrong)} of {len(findings)} as expected")
    sys.exit(1 if wrong or not findings else 0)


def each(function, cases):
    """function(case) for all, two at a time, in order."""
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(function, cases))
