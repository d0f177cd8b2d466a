#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each mutant of mutants.txt is caught by the very test that it names, and every test catches one.

    mutants_test.py PRISM MUTANT_ROOT
"""

from pathlib import Path

import checking

TABLE = Path(__file__).with_name("mutants.txt")
QUIET = ("pass", "skip", "blocked")


def mutants():
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            yield (line.split(maxsplit=4) + [""])[:5]


def finding(mutant):
    kind, name, test, outcome, words = mutant
    code, document = checking.check(f"{kind}_{name}", "--timeout",
                                    "1" if outcome == "timeout" else "30")
    loud = [result for result in document["results"] if result["outcome"] not in QUIET]
    first = loud[0] if loud else {"test": "-", "outcome": "pass", "reason": ""}
    wanted = 3 if outcome in ("fail", "crash", "timeout") else 0
    if (first["test"], first["outcome"], code) != (test, outcome, wanted) or \
            words not in first["reason"]:
        return (f"{kind} {name}: first is {first['test']} {first['outcome']}: {first['reason']}; "
                f"exit code {code}")
    if outcome == "fail" and f"--only '^{test.replace('.', chr(92) + '.')}$'" not in first["repro"]:
        return f"{kind} {name}: no repro in {first}"
    # The mutants of the file and of loading are blocked or fail further on, too; all others are
    # wrong in one way, and what depends on the test that says so is blocked by it.
    return None


def untested():
    """Tests that no mutant is caught by first."""
    caught = {mutant[2] for mutant in mutants()}
    for plugin in ("router_good", "source_good"):
        listed = checking.prism("plugin", "check", f"{checking.ROOT}/{plugin}", "--list").stdout
        for line in listed.splitlines():
            test = line.split()[0]
            # What holds for every plugin is tested with routers; S0.elf has its test in
            # check_test.py, with files that are no libraries.
            if test not in caught and test != "S0.elf":
                yield f"no mutant is caught first by {test}"


if __name__ == "__main__":
    checking.report("mutants", checking.each(finding, list(mutants())) + list(untested()))
