# SPDX-License-Identifier: Apache-2.0
"""Runs the commands that the documents show. Those of scripts/ are stages of scripts/ci.sh."""

import os
import pathlib
import re
import shlex
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

    def test_commands_of_the_table(self):
        readme = (SOURCE / "README.md").read_text()
        commands = re.findall(r"^\| `prism ([^`]*)` \|", readme, re.M)
        self.assertGreaterEqual(len(commands), 5)
        for command in commands:
            words = shlex.split(command.replace("[--verify N]", "--verify 2"))
            names = {"EXPERIMENT": "experiment.toml", "FILE": "experiment.toml"}
            self.assert_ok(self.prism(*(names.get(word, word) for word in words)))
        self.assert_ok(self.prism("doctor", "--measure-link"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
