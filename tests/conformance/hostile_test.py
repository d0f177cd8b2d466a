#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whatever a plugin does in whichever callback, the check comes to its end and names it.

    hostile_test.py PRISM MUTANT_ROOT
"""

import os
import time

import checking

CALLBACKS = ["load", "prism_plugin_v1", "init", "get_interface", "open", "counts", "assign", "close",
             "deinit"]
# Behaviour -> the outcomes that name it. Printing during loading is a failure, later a warning.
BEHAVIOURS = {
    "crash": {"crash"},
    "segfault": {"crash"},
    "hang": {"timeout"},
    "spin": {"timeout"},
    "print": {"warn", "fail"},
    "print_without_end": {"crash"},
    "fork": {"fail"},
    "allocate": {"crash"},
    "throw": {"crash", "fail"},
    "exit": {"crash"},
    "quick_exit": {"crash"},
}
# Enough tests to reach every callback.
ONLY = r"^S1\.load$|^S1\.quiet$|^S2\.init$|^S2\.interfaces$|^S3\.init_twice$|" \
       r"^S3\.router\.leftovers$|^S5\.router\.assign$"


def finding(case):
    callback, behaviour = case
    env = dict(os.environ, PRISM_HOSTILE=f"{callback}:{behaviour}")
    begin = time.monotonic()
    # What takes all memory needs some time for it.
    timeout = "30" if behaviour in ("allocate", "print_without_end") else "1"
    code, document = checking.check("hostile", "--only", ONLY, "--timeout", timeout, env=env)
    took = time.monotonic() - begin
    results = {result["test"]: result for result in document["results"]}
    outcomes = {result["outcome"] for result in results.values()}
    named = [r for r in results.values() if r["outcome"] in BEHAVIOURS[behaviour] and r["reason"]]
    strange = outcomes - BEHAVIOURS[behaviour] - {"pass", "skip", "blocked"}
    wanted = 0 if outcomes <= {"pass", "warn", "skip"} else 3
    if len(results) != 7 or not named or strange or code != wanted:
        return f"{callback} {behaviour}: exit code {code}, {list(results.values())}"
    if behaviour in ("hang", "crash") and callback not in ("load", "prism_plugin_v1") and \
            not any(callback in r["reason"] or "routing" in r["reason"] for r in named):
        return f"{callback} {behaviour}: the callback is not named in {named}"
    if took > 60:
        return f"{callback} {behaviour}: took {took:.0f} s"
    return None


def leftovers():
    """Processes of ours that outlived the check."""
    mine = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/maps", encoding="utf-8", errors="replace") as maps:
                if f"{checking.ROOT}/hostile/" in maps.read():
                    mine.append(pid)
        except OSError:
            pass
    return f"processes with the plugin still run: {mine}" if mine else None


if __name__ == "__main__":
    CASES = [(c, b) for c in CALLBACKS for b in BEHAVIOURS]
    checking.report("hostile", checking.each(finding, CASES) + [leftovers()])
