#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `prism plugin check` prints, writes and returns.

    check_test.py PRISM MUTANT_ROOT
"""

import re
import shlex
import shutil
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import checking

GOOD = f"{checking.ROOT}/router_good"
BAD = f"{checking.ROOT}/router_sum_too_small"


def check(*words, **options):
    return checking.prism("plugin", "check", *words, **options)


class Check(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="prism check "))  # with a space
        self.addCleanup(shutil.rmtree, self.folder)

    def copy(self, plugin):
        return Path(shutil.copytree(f"{checking.ROOT}/{plugin}", self.folder / plugin))

    def test_good_plugin(self):
        done = check(GOOD)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(done.stderr, "")
        self.assertRegex(done.stdout, r"\n\d+ tests: \d+ pass\n$")
        stages = {line.split()[1].split(".")[0] for line in done.stdout.splitlines()[:-1]}
        self.assertEqual(stages, {f"S{n}" for n in range(11)})

    def test_library_file_works_as_path(self):
        self.assertEqual(check(f"{GOOD}/libprism_router_good.so", "--level", "0").returncode, 0)

    def test_failure_says_how_to_do_it_again_and_what_it_blocks(self):
        done = check(BAD, "--seed", "7")
        self.assertEqual(done.returncode, 3)
        self.assertRegex(done.stdout, r"fail +S5\.router\.counts: counts\(\) with 64 tokens")
        self.assertRegex(done.stdout, r"blocked +S5\.router\.assign: by S5\.router\.counts")
        again = re.search(r"again: (prism plugin check .* --seed 7)\n", done.stdout).group(1)
        words = shlex.split(again)[1:]
        repeated = checking.prism(*words)
        self.assertEqual(repeated.returncode, 3)
        self.assertRegex(repeated.stdout, r"^fail +S5\.router\.counts: .*\n.*\n1 tests: 1 fail\n$")

    def test_only_failed(self):
        done = check(BAD, "--only-failed")
        self.assertNotRegex(done.stdout, r"(?m)^(pass|blocked|skip)")
        self.assertIn("S5.router.counts", done.stdout)
        done = check(GOOD, "--only-failed")
        self.assertRegex(done.stdout, r"^\d+ tests: \d+ pass\n$")

    def test_json(self):
        code, document = checking.check("router_sum_too_small", "--seed", "3")
        self.assertEqual(code, 3)
        self.assertEqual((document["plugin"], document["seed"]), ("router_sum_too_small", 3))
        for result in document["results"]:
            self.assertEqual(set(result), {"test", "stage", "outcome", "reason", "ms", "repro"})
            self.assertTrue(result["test"].startswith(f"S{result['stage']}."))
            self.assertEqual(bool(result["repro"]),
                             result["outcome"] in ("fail", "crash", "timeout"))
        self.assertEqual(sum(document["summary"].values()), len(document["results"]))
        self.assertEqual(document["summary"]["crash"], 0)
        self.assertGreater(document["summary"]["blocked"], 0)

    def test_junit(self):
        file = self.folder / "junit.xml"
        self.assertEqual(check(BAD, "--junit", str(file)).returncode, 3)
        suite = ElementTree.parse(file).getroot()
        cases = suite.findall("testcase")
        self.assertEqual(suite.tag, "testsuite")
        self.assertEqual(int(suite.get("tests")), len(cases))
        self.assertEqual(int(suite.get("failures")), len(suite.findall("testcase/failure")))
        self.assertGreater(int(suite.get("failures")), 0)
        self.assertEqual(int(suite.get("skipped")), len(suite.findall("testcase/skipped")))

    def test_junit_of_words_that_xml_has_not(self):
        file = self.folder / "junit.xml"
        check(f"{checking.ROOT}/router_refuses_choice_silently", "--junit", str(file))
        self.assertIsNotNone(ElementTree.parse(file).getroot())

    def test_junit_that_cannot_be_written(self):
        done = check(GOOD, "--level", "0", "--junit", "/nowhere/junit.xml")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("/nowhere/junit.xml", done.stderr)

    def test_level_only_skip_and_list(self):
        def names(*words):
            done = check(GOOD, "--list", *words)
            self.assertEqual(done.returncode, 0, done.stderr)
            return [line.split()[0] for line in done.stdout.splitlines()]

        every = names()
        self.assertGreater(len(every), 40)
        self.assertEqual(names("--level", "1"), [n for n in every if n[:3] in ("S0.", "S1.")])
        self.assertEqual(names("--only", "logits"), ["S5.router.logits"])
        self.assertNotIn("S5.router.logits", names("--skip", "logits"))
        self.assertFalse([n for n in every if "digest" in n])

    def test_a_test_alone_is_not_blocked_by_what_was_not_chosen(self):
        done = check(BAD, "--only", r"^S5\.router\.no_tokens$")
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_in_process(self):
        done = check(GOOD, "--in-process", "--only", r"^S[12]\.|S5\.router\.counts")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"pass +S5\.router\.counts")

    def test_usage(self):
        for words, message in [
            ([], "ID|PATH is missing"),
            ([GOOD, "--only", "("], "--only takes a regular expression, not '('"),
            ([GOOD, "--only", "nothing_like_it"], "no test is left"),
            ([GOOD, "--level", "11"], "--level takes a whole number from 0 to 10, not '11'"),
            ([GOOD, "--seed", "x"], "--seed takes a whole number"),
            ([GOOD, "--timeout", "0"], "--timeout takes a whole number from 1 to 3600, not '0'"),
            ([GOOD, "--options", "/nowhere.toml"], "/nowhere.toml"),
        ]:
            done = check(*words)
            self.assertEqual(done.returncode, 2, (words, done.stdout, done.stderr))
            self.assertIn(message, done.stderr)
            self.assertEqual(done.stdout, "")

    def test_no_such_plugin(self):
        for word in ("no_such_plugin", "/nowhere/plugin", str(self.folder)):
            done = check(word)
            self.assertIn(done.returncode, (2, 3), done.stderr)
            self.assertRegex(done.stderr, r"^prism: error: ")

    def test_file_that_is_no_library(self):
        plugin = self.copy("router_good")
        library = plugin / "libprism_router_good.so"
        whole = library.read_bytes()
        for content in (b"", b"#!/bin/sh\necho no library\n", b"\x7fELF", whole[:100],
                        whole[:len(whole) // 2], whole[:4] + b"\x01" + whole[5:],
                        whole[:18] + b"\x08\x00" + whole[20:]):
            library.unlink()
            library.write_bytes(content)
            done = check(str(plugin), "--timeout", "5")
            self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
            first = done.stdout.splitlines()[0]
            self.assertRegex(first, r"^fail +S0\.elf: ", content[:20])
            self.assertRegex(done.stdout, r"blocked +S1\.load: by S0\.elf")

    def test_manifest_that_is_broken(self):
        plugin = self.copy("router_good")
        (plugin / "plugin.toml").write_text("manifest = 1\n[plugin\n")
        done = check(str(plugin))
        self.assertEqual(done.returncode, 3)
        self.assertIn("plugin.toml:2:", done.stderr)

    def test_options_of_the_user(self):
        options = self.folder / "options.toml"
        options.write_text("[plugins.options.router_good]\nspread = 7\n")
        self.assertEqual(check(GOOD, "--options", str(options)).returncode, 0)
        options.write_text("[plugins.options.router_good]\nspread = 70\n")
        done = check(GOOD, "--options", str(options))
        self.assertRegex(done.stdout, r"fail +S4\.router\.table: .*spread")
        self.assertIn("--options", done.stdout)

    def test_required_option_is_asked_for(self):
        done = check(f"{checking.ROOT}/router_required_option")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertRegex(done.stdout, r"skip +S4\.router\.table: .*place.*--options")
        options = self.folder / "options.toml"
        options.write_text('[plugins.options.router_required_option]\nplace = "here"\n')
        done = check(f"{checking.ROOT}/router_required_option", "--options", str(options))
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertNotRegex(done.stdout, r"(?m)^skip")

    def test_child_is_not_for_direct_use(self):
        done = checking.prism("plugin", "__child", GOOD, "", "S1.load", "1", "10")
        self.assertEqual(done.returncode, 2)
        self.assertNotIn("__child", checking.prism("plugin", "--help").stdout)

    def test_nothing_is_left_in_the_temporary_folder(self):
        check(f"{checking.ROOT}/router_writes_on_load")
        self.assertEqual(list(Path(tempfile.gettempdir()).glob("prism-check-*")), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
