#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whatever a plugin does in whichever callback, the check comes to its end and names it; building.py says what it
needs."""

import os
import pathlib
import tempfile
import time
import unittest
from concurrent.futures import ThreadPoolExecutor

import building

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
ONLY = [word for test in ("S1.load", "S1.quiet", "S2.init", "S2.interfaces", "S3.init_twice",
                          "S3.router.leftovers", "S5.router.assign") for word in ("--only", test)]


class Hostile(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="prism-hostile-")
        cls.addClassCleanup(folder.cleanup)
        cls.plugin = building.build_hostile(pathlib.Path(folder.name))

    def judge(self, case):
        """What is not as it must be; empty: all is."""
        callback, behaviour = case
        env = dict(os.environ, PRISM_HOSTILE=f"{callback}:{behaviour}")
        begin = time.monotonic()
        # What takes all memory needs some time for it.
        timeout = "30" if behaviour in ("allocate", "print_without_end") else "1"
        code, document = building.results(self.plugin, *ONLY, "--timeout", timeout, env=env)
        took = time.monotonic() - begin
        results = document["results"]
        outcomes = {result["outcome"] for result in results}
        named = [r for r in results if r["outcome"] in BEHAVIOURS[behaviour] and r["reason"]]
        strange = outcomes - BEHAVIOURS[behaviour] - {"pass", "skip", "blocked"}
        wanted = 0 if outcomes <= {"pass", "warn", "skip"} else 3
        if len(results) != 7 or not named or strange or code != wanted:
            return f"{callback} {behaviour}: exit code {code}, {results}"
        words = "loading the library" if callback == "load" else "routing" if callback in ("counts", "assign") else callback
        if behaviour in ("hang", "crash") and not any(words in r["reason"] for r in named):
            return f"{callback} {behaviour}: the callback is not named in {named}"
        return f"{callback} {behaviour}: took {took:.0f} s" if took > 60 else ""

    def test_every_callback(self):
        cases = [(callback, behaviour) for callback in CALLBACKS for behaviour in BEHAVIOURS]
        with ThreadPoolExecutor(2) as pool:
            self.assertEqual([p for p in pool.map(self.judge, cases) if p], [])
        self.assertEqual(self.processes_with_the_plugin(), [])

    def test_list_loads_nothing(self):
        for behaviour in ("crash", "hang", "exit"):
            env = dict(os.environ, PRISM_HOSTILE=f"load:{behaviour}")
            done = building.prism("plugin", "list", "--plugin-path", self.plugin.parent, env=env)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stdout, r"(?m)^ *mutant .* ok$")

    def test_list_that_loads_survives(self):
        for behaviour in ("crash", "exit", "print"):
            env = dict(os.environ, PRISM_HOSTILE=f"load:{behaviour}")
            done = building.prism("plugin", "list", "--probe", "--plugin-path", self.plugin.parent, env=env)
            self.assertRegex(done.stdout, r"(?m)^ *mutant .* " + ("ok$" if behaviour == "print" else "broken: "))
            self.assertNotIn("hello", done.stdout)

    def processes_with_the_plugin(self):
        """Those that outlived the check."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/maps", encoding="utf-8", errors="replace") as maps:
                    if str(self.plugin) in maps.read():
                        found.append(pid)
            except OSError:
                pass
        return found


if __name__ == "__main__":
    unittest.main(verbosity=2)
