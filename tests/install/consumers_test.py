#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plugins that are built against an installed Prism, after its prefix was moved: every template of
`prism plugin new`, other compilers, a project in C alone."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

BUILD = pathlib.Path(os.environ["PRISM_BUILD"])
CMAKE = os.environ["PRISM_CMAKE"]
CTEST = os.environ["PRISM_CTEST"]
HERE = pathlib.Path(__file__).resolve().parent
NAME = "a2-very-long-name-with-9-parts"
ID = NAME.replace("-", "_")


class Consumers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = pathlib.Path(tempfile.mkdtemp(prefix="prism-install-"))
        cls.addClassCleanup(shutil.rmtree, cls.scratch)
        first = cls.scratch / "first"
        subprocess.run([CMAKE, "--install", BUILD, "--prefix", first], check=True,
                       stdout=subprocess.DEVNULL)
        cls.prefix = cls.scratch / "moved here"
        first.rename(cls.prefix)
        cls.prism = cls.prefix / "bin" / "prism"

    def call(self, *words, cwd=None, succeeds=True):
        done = subprocess.run([str(w) for w in words], cwd=cwd or self.scratch, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                              timeout=300)
        if succeeds:
            self.assertEqual(done.returncode, 0, f"{words}\n{done.stdout}")
        return done

    def configure(self, folder, *flags, succeeds=True, root=None):
        return self.call(CMAKE, "-S", folder, "-B", folder / "build", "-DCMAKE_BUILD_TYPE=Release",
                         f"-Dprism_ROOT={root or self.prefix}", *flags, succeeds=succeeds)

    def build_and_check(self, folder, plugin, *flags, root=None):
        """Configures, builds, runs the project's tests and lets the program look at the plugin."""
        self.configure(folder, *flags, root=root)
        self.call(CMAKE, "--build", folder / "build")
        tests = self.call(CTEST, "--test-dir", folder / "build", "--no-tests=error",
                          "--output-on-failure")
        self.assertIn(f"{plugin}.unit", tests.stdout)
        shown = self.look_at(folder, plugin)
        self.call(CMAKE, "--build", folder / "build", "--target", f"check-{plugin}")
        return shown

    def look_at(self, folder, plugin):
        path = folder / "build/lib/prism/plugins/abi-1" / plugin
        shown = json.loads(self.call(self.prism, "plugin", "show", path, "--json").stdout)
        self.assertEqual((shown["id"], shown["status"]), (plugin, "ok"))
        return shown

    def new(self, where, kind, language="cpp"):
        folder = self.scratch / where
        self.call(self.prism, "plugin", "new", kind, NAME, "--lang", language, "--dir", folder)
        return folder

    def test_the_moved_program_finds_its_plugins(self):
        listed = json.loads(self.call(self.prism, "plugin", "list", "--json", "--probe").stdout)
        found = {p["id"]: p for p in listed["plugins"] if p["path"].startswith(str(self.prefix))}
        self.assertEqual(found["local"]["status"], "ok", found["local"])
        self.assertEqual({p["status"] for p in found.values()}, {"ok"}, found)

    def test_nothing_points_back_to_where_it_was(self):
        for path in self.prefix.rglob("*"):
            if path.is_file():
                content = path.read_bytes()
                self.assertNotIn(str(self.scratch / "first").encode(), content, path)
                if path.suffix == ".cmake":
                    self.assertNotIn(str(BUILD).encode(), content, path)

    def test_templates(self):
        for kind in ("router", "tensor_source"):
            for language in ("cpp", "c"):
                with self.subTest(kind=kind, language=language):
                    folder = self.new(f"{kind}-{language}", kind, language)
                    self.build_and_check(folder, ID)
        self.build_and_check(self.new("format-cpp", "format"), ID)

    def test_the_steps_that_are_printed(self):
        folder = self.scratch / "with a space"
        folder.mkdir()
        said = self.call(self.prism, "plugin", "new", "router", NAME, cwd=folder).stdout
        steps = said.split("next:\n", 1)[1]
        self.assertIn("plugin check", steps)
        done = self.call("bash", "-ec", steps, cwd=folder)
        self.assertIn(f"{ID}.unit", done.stdout)

    def test_template_from_the_build_tree(self):
        folder = self.new("router-from-build-tree", "router")
        self.build_and_check(folder, ID, root=BUILD)

    @unittest.skipUnless(shutil.which("clang++-14"), "there is no clang++-14")
    def test_clang(self):
        folder = self.new("router-clang", "router")
        shown = self.build_and_check(folder, ID, "-DCMAKE_CXX_COMPILER=clang++-14")
        self.assertIn("Clang 14", shown["compiler"])
        self.build_and_check(self.new("format-clang", "format"), ID, "-DCMAKE_CXX_COMPILER=clang++-14")

    def test_the_old_string_of_the_standard_library(self):
        folder = self.new("router-old-string", "router")
        self.build_and_check(folder, ID, "-DCMAKE_CXX_FLAGS=-D_GLIBCXX_USE_CXX11_ABI=0")
        manifest = folder / "build/lib/prism/plugins/abi-1" / ID / "plugin.toml"
        self.assertIn("cxx11_abi = false", manifest.read_text())

    def test_a_project_in_c_alone(self):
        folder = self.scratch / "c_only"
        shutil.copytree(HERE / "c_only", folder)
        shutil.copy(HERE.parent / "plugins" / "fixtures" / "good_c.c", folder / "answer.c")
        self.configure(folder, "-DCMAKE_CXX_COMPILER=/no/such/compiler")
        self.call(CMAKE, "--build", folder / "build")
        self.look_at(folder, "answer")
        self.call(CMAKE, "--install", folder / "build", "--prefix", self.scratch / "of-mine")
        installed = self.scratch / "of-mine/lib/prism/plugins/abi-1/answer"
        self.assertEqual({p.name for p in installed.iterdir()},
                         {"plugin.toml", "libprism_answer.so"})

    def test_what_find_package_cannot_give(self):
        for request, message in (
                ("prism 1 CONFIG REQUIRED COMPONENTS sdk wings",
                 "SDK has no component 'wings'; there are sdk and conformance"),
                ("prism 2 CONFIG REQUIRED", "version: 1."),
                ("prism 0.9 CONFIG REQUIRED", "version: 1.")):
            folder = pathlib.Path(tempfile.mkdtemp(dir=self.scratch))
            (folder / "CMakeLists.txt").write_text(
                f"cmake_minimum_required(VERSION 3.21)\nproject(x LANGUAGES C)\n"
                f"find_package({request})\n")
            done = self.configure(folder, succeeds=False)
            self.assertNotEqual(done.returncode, 0, request)
            self.assertIn(message, " ".join(done.stdout.split()))

    def test_a_kind_that_is_not_there(self):
        folder = self.new("router-typo", "router")
        file = folder / "CMakeLists.txt"
        text = file.read_text()
        file.write_text(text.replace("KIND router", "KIND roter"))
        done = self.configure(folder, succeeds=False)
        self.assertIn("there is no KIND 'roter'; choose from format, launcher, router, runtime, tensor_source",
                      " ".join(done.stdout.split()))
        file.write_text(text.replace("KIND router", "KIND tracer INTERFACES com.acme.tracer/1"))
        self.configure(folder)

    def test_a_template_whose_option_is_renamed_says_so(self):
        folder = self.new("router-renamed", "router")
        [source] = (folder / "src").iterdir()
        source.write_text(source.read_text().replace('"hot_experts"', '"warm_experts"'))
        self.configure(folder)
        self.call(CMAKE, "--build", folder / "build")
        done = self.call(CTEST, "--test-dir", folder / "build", "-R", "unit", "--output-on-failure", succeeds=False)
        self.assertIn("FAILED: there is no option 'hot_experts'; there are: warm_experts", done.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
