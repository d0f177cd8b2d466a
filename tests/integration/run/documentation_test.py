# SPDX-License-Identifier: Apache-2.0
"""Runs the commands that the documents show. Those of scripts/ are stages of scripts/ci.sh."""

import os
import pathlib
import re
import shlex
import subprocess
import unittest

from support import PRISM, PYTHON, SOURCE, RunCase, train

DOCUMENTS = [SOURCE / "README.md", *sorted((SOURCE / "docs").glob("*.md"))]


def blocks(text, language):
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.S | re.M)


class Documentation(RunCase):
    def setUp(self):
        super().setUp()
        readme = (SOURCE / "README.md").read_text()
        [experiment] = blocks(readme, "toml")
        (self.folder / "experiment.toml").write_text(experiment)
        (self.folder / "train.py").write_text(
            train().replace("import os", "import os, argparse; argparse.ArgumentParser()."
                            "add_argument('--hidden')\nimport os", 1))

        (self.folder / "examples").mkdir()
        (self.folder / "examples" / "trace").symlink_to(SOURCE / "examples" / "trace")

    def environment(self):
        path = f"{pathlib.Path(PYTHON).parent}:{PRISM.parent}:{os.environ['PATH']}"
        return {**super().environment(), "PATH": path}

    def test_commands(self):
        ran = []
        for document in DOCUMENTS:
            for block in blocks(document.read_text(), "sh"):
                for line in block.splitlines():
                    words = shlex.split(line, comments=True)
                    if not words or words[0] == "source":
                        continue
                    if words[0].startswith("scripts/"):
                        self.assertTrue((SOURCE / words[0]).is_file(), line)
                        continue
                    self.assertIn(words[0], ("build/release/bin/prism", "prism"), line)
                    self.assert_ok(self.prism(*words[1:]))
                    ran.append(line)
        self.assertTrue(ran)

    def test_quickstart_of_plugin_authors(self):
        """All of its commands, one after the other in one shell, and then its option."""
        text = (SOURCE / "docs" / "plugin-authors" / "quickstart.md").read_text()
        script = "\n".join(["set -e", *blocks(text, "sh")])
        script = script.replace("$PWD/build/release/bin", str(PRISM.parent))
        script = script.replace("$PWD/.venv/bin", str(pathlib.Path(PYTHON).parent))
        [option] = blocks(text, "toml")
        script += f"\ncat >> moe/experiment.toml <<'END'\n{option}END\n"
        script += "prism run moe/experiment.toml --plugin build/release/lib/prism/plugins/abi-1/my_router\n"
        result = subprocess.run(["bash", "-c", script], cwd=SOURCE, text=True, capture_output=True,
                                env={**self.environment(), "TMPDIR": str(self.folder)}, timeout=500)
        self.assert_ok(result)
        self.assertRegex(result.stdout, r"100% tests passed, 0 tests failed out of 2")
        self.assertRegex(result.stdout, r"52 tests: \d+ pass, \d+ skip\n")
        self.assertEqual(result.stdout.count("predicted iteration time, 16 ranks"), 2)

    def test_format_of_plugin_authors(self):
        """All of its commands, one after the other in one shell."""
        text = (SOURCE / "docs" / "plugin-authors" / "format.md").read_text()
        script = "\n".join(["set -e", f"export PATH='{PRISM.parent}':\"$PATH\" PRISM_SOURCE='{SOURCE}'",
                            "cd \"$(mktemp -d)\"", *blocks(text, "sh")])
        result = subprocess.run(["bash", "-c", script], text=True, capture_output=True,
                                env={**self.environment(), "TMPDIR": str(self.folder)}, timeout=500)
        self.assert_ok(result)
        self.assertRegex(result.stdout, r"100% tests passed, 0 tests failed out of 2")
        self.assertRegex(result.stdout, r"56 tests: 56 pass\n")
        self.assertIn("my_format trace of 8 ranks", result.stdout)

    def test_code_of_plugin_authors(self):
        """Every plugin and every test that a page shows compiles as it stands."""
        compiled = []
        compilers = {"cpp": ["g++", "-std=c++20", "-x", "c++"], "c": ["gcc", "-std=c11", "-pedantic", "-x", "c"]}
        for page in sorted((SOURCE / "docs" / "plugin-authors").glob("*.md")):
            for language, compiler in compilers.items():
                for code in blocks(page.read_text(), language):
                    if not re.search(r"PRISM_PLUGIN\(|prism_plugin_v1\(", code):
                        continue
                    result = subprocess.run(
                        [*compiler, "-Wall", "-Wextra", "-Werror", "-fsyntax-only",
                         f"-I{SOURCE}/sdk/include", '-DPRISM_PLUGIN_ID="x1"',
                         '-DPRISM_PLUGIN_VERSION="0.1.0"', "-"],
                        input=code, text=True, capture_output=True)
                    self.assertEqual(result.returncode, 0, f"{page}: {result.stderr}")
                    compiled.append(page.name)
        self.assertEqual(compiled, ["c.md", "format.md", "router.md", "tensor-source.md", *["testing.md"] * 3])

    def test_c_page_is_a_plugin(self):
        """The code of the page for C passes `prism plugin check`."""
        [code] = blocks((SOURCE / "docs" / "plugin-authors" / "c.md").read_text(), "c")
        plugin = self.folder / "turns"
        plugin.mkdir()
        (plugin / "plugin.toml").write_text(
            'manifest = 1\n[plugin]\nid = "turns"\nversion = "0.1.0"\nlibrary = "libprism_turns.so"\n'
            '[abi]\nmajor = 1\nmin_host_minor = 0\n[provides]\ninterfaces = ["prism.router/1"]\n')
        subprocess.run(["gcc", "-std=c11", "-shared", "-fPIC", "-fvisibility=hidden", "-Wl,-z,defs",
                        f"-I{SOURCE}/sdk/include", '-DPRISM_PLUGIN_ID="turns"', '-DPRISM_PLUGIN_VERSION="0.1.0"',
                        "-x", "c", "-", "-o", plugin / "libprism_turns.so"], input=code, text=True, check=True)
        self.assert_ok(self.prism("plugin", "check", plugin, "--only-failed"))

    def test_the_hook_that_is_shown_is_that_of_the_example(self):
        [shown] = blocks((SOURCE / "docs" / "made-up-values.md").read_text(), "python")
        hook = (SOURCE / "examples" / "moe" / "prism_hook.py").read_text()
        self.assertTrue(hook.endswith(shown))

    def test_commands_of_the_table(self):
        readme = (SOURCE / "README.md").read_text()
        commands = re.findall(r"^\| `prism ([^`]*)` \|", readme, re.M)
        self.assertGreaterEqual(len(commands), 5)
        for command in commands:
            words = shlex.split(command.replace("[--verify N]", "--verify 2"))
            names = {"EXPERIMENT": "experiment.toml", "FILE": "experiment.toml", "ID": "zipf",
                     "KIND": "router", "NAME": "my-router"}
            self.assert_ok(self.prism(*(names.get(word, word) for word in words)))
        self.assert_ok(self.prism("doctor", "--measure-link"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
