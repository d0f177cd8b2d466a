#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `prism plugin check` prints, writes and returns; building.py says what it needs."""

import os
import pathlib
import re
import shlex
import signal
import subprocess
import tempfile
import time
import unittest
import xml.etree.ElementTree as ElementTree

import building
from building import prism


def check(*words, **options):
    return prism("plugin", "check", *words, **options)


class Check(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="prism check ")  # with a space
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.good = cls.build("none")
        cls.bad = cls.build("sum_too_small")

    @classmethod
    def build(cls, mutant):
        return building.build_mutant(cls.folder, "router", mutant)

    def test_good_plugin(self):
        done = check(self.good)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(done.stderr, "")
        self.assertRegex(done.stdout, r"\n\d+ tests: \d+ pass\n$")
        stages = {line.split()[1].split(".")[0] for line in done.stdout.splitlines()[:-1]}
        self.assertEqual(stages, {f"S{n}" for n in range(11)})

    def test_library_file_works_as_path(self):
        self.assertEqual(check(self.good / "libprism_mutant.so", "--level", "0").returncode, 0)

    def test_failure_says_how_to_do_it_again_and_what_it_blocks(self):
        done = check(self.bad, "--seed", "7")
        self.assertEqual(done.returncode, 3)
        self.assertRegex(done.stdout, r"fail +S5\.router\.counts: counts\(\) with 64 tokens")
        self.assertRegex(done.stdout, r"blocked +S5\.router\.assign: by S5\.router\.counts")
        again = re.search(r"again: (prism plugin check .* --seed 7)\n", done.stdout).group(1)
        words = shlex.split(again)[1:]
        repeated = prism(*words)
        self.assertEqual(repeated.returncode, 3)
        self.assertRegex(repeated.stdout, r"^fail +S5\.router\.counts: .*\n.*\n1 tests: 1 fail\n$")

    def test_only_failed(self):
        done = check(self.bad, "--only-failed")
        self.assertNotRegex(done.stdout, r"(?m)^(pass|blocked|skip)")
        self.assertIn("S5.router.counts", done.stdout)
        done = check(self.good, "--only-failed")
        self.assertRegex(done.stdout, r"^\d+ tests: \d+ pass\n$")

    def test_json(self):
        code, document = building.results(self.bad, "--seed", "3")
        self.assertEqual(code, 3)
        self.assertEqual((document["plugin"], document["seed"]), ("mutant", 3))
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
        self.assertEqual(check(self.bad, "--junit", str(file)).returncode, 3)
        suite = ElementTree.parse(file).getroot()
        cases = suite.findall("testcase")
        self.assertEqual(suite.tag, "testsuite")
        self.assertEqual(int(suite.get("tests")), len(cases))
        self.assertEqual(int(suite.get("failures")), len(suite.findall("testcase/failure")))
        self.assertGreater(int(suite.get("failures")), 0)
        self.assertEqual(int(suite.get("skipped")), len(suite.findall("testcase/skipped")))

    def test_junit_of_words_that_xml_has_not(self):
        file = self.folder / "junit.xml"
        check(self.build("refuses_choice_silently"), "--junit", str(file))
        self.assertIsNotNone(ElementTree.parse(file).getroot())

    def test_junit_that_cannot_be_written(self):
        done = check(self.good, "--junit", "/nowhere/junit.xml")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("/nowhere/junit.xml", done.stderr)
        self.assertEqual(done.stdout, "")  # before any test has run

    def test_level_only_skip_and_list(self):
        def names(*words):
            done = check(self.good, "--list", *words)
            self.assertEqual(done.returncode, 0, done.stderr)
            return [line.split()[0] for line in done.stdout.splitlines()]

        every = names()
        self.assertGreater(len(every), 40)
        self.assertEqual(names("--level", "1"), [n for n in every if n[:3] in ("S0.", "S1.")])
        self.assertEqual(names("--only", "*logits"), ["S5.router.logits"])
        self.assertNotIn("S5.router.logits", names("--skip", "S5.*"))
        self.assertEqual(names("--only", "S5.router.logits", "--only", "S1.load"),
                         ["S1.load", "S5.router.logits"])
        self.assertFalse([n for n in every if "digest" in n])

    def test_a_pattern_of_many_stars_takes_no_time(self):
        begin = time.monotonic()
        done = check(self.good, "--list", "--only", "*o" * 10_000 + "x")
        self.assertIn("no test is left", done.stderr)
        self.assertLess(time.monotonic() - begin, 10)

    def test_a_test_alone_is_not_blocked_by_what_was_not_chosen(self):
        done = check(self.bad, "--only", "S5.router.no_tokens")
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_in_process(self):
        done = check(self.good, "--in-process", "--only", "S1.*", "--only", "S2.*", "--only", "S5.router.counts")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"pass +S5\.router\.counts")

    def test_usage(self):
        for words, message in [
            ([], "ID|PATH is missing"),
            ([self.good, "--only", "^S5"], "--only takes the name of a test, in which '*' stands for any"),
            ([self.good, "--only", "nothing_like_it"], "no test is left"),
            ([self.good, "--level", "11"], "--level takes a whole number from 0 to 10, not '11'"),
            ([self.good, "--seed", "x"], "--seed takes a whole number"),
            ([self.good, "--timeout", "0"], "--timeout takes a whole number from 1 to 3600, not '0'"),
            ([self.good, "--options", "/nowhere.toml"], "/nowhere.toml"),
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
        plugin = building.build_mutant(self.folder, "tensor_source", "none")
        library = plugin / "libprism_mutant.so"
        whole = library.read_bytes()
        for content in (b"", b"#!/bin/sh\necho no library\n", b"\x7fELF", whole[:100],
                        whole[:len(whole) // 2], whole[:4] + b"\x01" + whole[5:],
                        whole[:18] + b"\x08\x00" + whole[20:]):
            library.write_bytes(content)
            done = check(str(plugin), "--timeout", "5")
            self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
            first = done.stdout.splitlines()[0]
            self.assertRegex(first, r"^fail +S0\.elf: ", content[:20])
            self.assertRegex(done.stdout, r"blocked +S1\.load: by S0\.elf")

    def test_manifest_that_is_broken(self):
        plugin = building.build_mutant(self.folder, "tensor_source", "none")
        (plugin / "plugin.toml").write_text("manifest = 1\n[plugin\n")
        done = check(str(plugin))
        self.assertEqual(done.returncode, 3)
        self.assertIn("plugin.toml:2:", done.stderr)

    def test_options_of_the_user(self):
        options = self.folder / "options.toml"
        options.write_text("[plugins.options.mutant]\nspread = 7\n")
        self.assertEqual(check(self.good, "--options", str(options)).returncode, 0)

    def test_mistakes_in_the_options_of_the_user_are_not_the_plugins(self):
        options = self.folder / "options.toml"
        for text, words in [("spread = 70", r"'spread'.*10"), ("spraed = 7", r"unknown key 'spraed'.*did you mean 'spread'")]:
            options.write_text(f"[plugins.options.mutant]\n{text}\n")
            done = check(self.good, "--options", str(options))
            self.assertEqual(done.returncode, 2, done.stdout)
            self.assertNotRegex(done.stdout, r"(?m)^(fail|blocked)")
            self.assertRegex(done.stdout, rf"NOT CHECKED: .*options\.toml:2:\d+: error: .*{words}.*\n$")
        for text, words in [("[plugins.options.mutnat]\nspread = 7\n", "did you mean 'mutnat'?"), ("[job]\n", ""),
                            ("plugins = 3\n", "")]:
            options.write_text(text)
            done = check(self.good, "--options", str(options))
            self.assertEqual(done.returncode, 2, done.stdout)
            self.assertIn(f"options.toml has no [plugins.options.mutant]", done.stderr)
            self.assertIn(words, done.stderr)

    def test_required_option_is_asked_for(self):
        done = check(self.build("required_option"))
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertRegex(done.stdout, r"skip +S4\.router\.table: .*place.*--options")
        self.assertRegex(done.stdout, r"\d+ pass, \d+ skip\nNOT CHECKED: .*required key 'place'.*--options FILE\n$")
        options = self.folder / "options.toml"
        options.write_text('[plugins.options.mutant]\nplace = "here"\n')
        done = check(self.build("required_option"), "--options", str(options))
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertNotRegex(done.stdout, r"(?m)^skip")

    def test_required_options_with_bounds_need_no_file(self):
        done = check(self.build("required_with_bounds"))
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertNotRegex(done.stdout, r"(?m)^skip")

    def test_format_without_export_asks_for_a_sample(self):
        only_imports = building.build_mutant(self.folder, "format", "only_imports")
        both = building.build_mutant(self.folder, "format", "none")
        done = check(only_imports)
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertRegex(done.stdout, r"skip +S5\.format\.imports: .*--sample")
        self.assertRegex(done.stdout, r"skip +S5\.format\.exports: it imports only")
        self.assertRegex(done.stdout, r"\nNOT CHECKED: .*name one with --sample FILE\n$")
        sample = self.folder / "a trace"
        sample.write_text("mutant trace 3 \nR0 0 \nL0 0 \nN0 0 0 0 1 -1 0 0 0 \nend\n")
        done = check(only_imports, "--sample", sample)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertRegex(done.stdout, r"pass +S5\.format\.cut")
        self.assertEqual(check(both, "--sample", sample).returncode, 0)
        sample.write_text("mutant trace 3 \nR0 0 \n")
        done = check(only_imports, "--sample", sample, "--only", "S5.format.imports")
        self.assertRegex(done.stdout, r"fail +S5\.format\.imports: .*cut or damaged.*\n.*--sample '.*a trace'\n")
        done = check(only_imports, "--sample", "/nowhere")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("--sample: there is no file '/nowhere'", done.stderr)

    def test_format_that_only_exports(self):
        done = check(building.build_mutant(self.folder, "format", "only_exports"))
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertRegex(done.stdout, r"skip +S5\.format\.imports: it exports only")

    def test_child_is_not_for_direct_use(self):
        done = prism("plugin", "__child", self.good, "", "S1.load", "1", "10")
        self.assertEqual(done.returncode, 2)
        self.assertNotIn("__child", prism("plugin", "--help").stdout)

    def test_nothing_is_left_in_the_temporary_folder(self):
        temporary = self.folder / "temporary"
        temporary.mkdir()
        done = check(self.build("writes_on_load"), env=dict(os.environ, TMPDIR=str(temporary)))
        self.assertIn("left files in the current folder", done.stdout)
        self.assertEqual(list(temporary.iterdir()), [])

    def test_nor_when_it_is_ended_by_a_signal(self):
        temporary = self.folder / "ended"
        temporary.mkdir()
        for sent in (signal.SIGTERM, signal.SIGINT, signal.SIGKILL):
            running = subprocess.Popen(
                [building.PRISM, "plugin", "check", self.build("hangs_on_load")],
                stdout=subprocess.DEVNULL, env=dict(os.environ, TMPDIR=str(temporary)))
            self.assertTrue(self.within(20, lambda: list(temporary.iterdir())))
            running.send_signal(sent)
            self.assertEqual(running.wait(timeout=20), -sent)
            self.assertTrue(self.within(20, lambda: not list(temporary.iterdir())), sent)

    @staticmethod
    def within(seconds, condition):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if condition():
                return True
            time.sleep(0.02)
        return False


if __name__ == "__main__":
    unittest.main(verbosity=2)
