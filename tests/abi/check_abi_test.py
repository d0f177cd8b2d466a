# SPDX-License-Identifier: Apache-2.0
"""What scripts/check_abi.py says when frozen headers change, on a copy of the SDK."""

import importlib.util
import shutil
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]


def load(root):
    spec = importlib.util.spec_from_file_location("check_abi", root / "scripts" / "check_abi.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@unittest.skipUnless(shutil.which("abidw"), "abigail-tools is not installed")
class Frozen(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="prism-abi-")
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        for part in ("sdk/include", "sdk/abi", "scripts"):
            shutil.copytree(SOURCE / part, self.root / part)
        shutil.copy(SOURCE / "sdk/CHANGELOG.md", self.root / "sdk")
        self.check = load(self.root)

    def edit(self, path, old, new):
        file = self.root / path
        text = file.read_text()
        self.assertIn(old, text)
        file.write_text(text.replace(old, new, 1))

    def raise_minor(self):
        major, minor = self.check.current_version()
        self.edit("sdk/include/prism/abi/version.h", f"MINOR {minor}", f"MINOR {minor + 1}")
        self.edit("sdk/CHANGELOG.md", f"## {major}.{minor}", f"## {major}.{minor + 1}\n\n* More.\n\n## {major}.{minor}")

    def findings(self):
        found = [*self.check.frozen_findings(self.check.dump_types(), self.check.dump_macros()),
                 *self.check.changelog_findings()]
        return "\n".join(found)

    def append_function(self):
        self.edit("sdk/include/prism/abi/router.h",
                  "void (*close)(prism_router_session_t* session) PRISM_NOEXCEPT;",
                  "void (*close)(prism_router_session_t* session) PRISM_NOEXCEPT;\n"
                  "  void (*later)(prism_router_session_t* session) PRISM_NOEXCEPT;")

    def test_as_it_is(self):
        self.assertEqual(self.findings(), "")

    def test_comments_may_change(self):
        self.edit("sdk/include/prism/abi/router.h", "/** The tokens of", "/** All tokens of")
        self.assertEqual(self.findings(), "")

    def test_drafts_may_change(self):
        self.edit("sdk/include/prism/abi/draft/launcher.h", "typedef struct prism_launcher {",
                  "typedef struct prism_launcher {\n  int32_t first;")
        self.assertEqual(self.findings(), "")

    def test_a_field_more_needs_a_version(self):
        self.append_function()
        found = self.findings()
        self.assertIn("raise the minor", found)
        self.assertIn("'void (prism_router_session_t*)* later', at offset", found)

    def test_a_field_more_in_a_new_version(self):
        self.append_function()
        self.raise_minor()
        self.assertIn("run scripts/check_abi.py --update", self.findings())
        self.assertEqual(self.check.update(), [])
        self.assertEqual(self.findings(), "")

    def test_a_version_without_an_entry(self):
        self.edit("sdk/include/prism/abi/version.h", "MINOR 0", "MINOR 7")
        self.assertIn("no entry '## 1.7'", self.findings())

    def test_a_field_in_the_middle(self):
        self.edit("sdk/include/prism/abi/router.h", "uint32_t layer;", "uint32_t depth;\n  uint32_t layer;")
        self.raise_minor()
        for found in (self.findings(), "\n".join(self.check.update())):
            self.assertIn("struct prism_routing_request: field 8 was 'uint32_t layer'", found)
            self.assertIn("now it is 'uint32_t depth'", found)

    def test_a_field_of_another_type(self):
        self.edit("sdk/include/prism/abi/tensor_source.h", "int32_t peer;", "uint32_t peer;")
        self.raise_minor()
        self.assertIn("struct prism_tensor_request: field 7 was 'int32_t peer'", self.findings())

    def test_another_parameter(self):
        self.edit("sdk/include/prism/abi/router.h", "uint64_t* counts, const", "uint32_t* counts, const")
        self.raise_minor()
        self.assertIn("struct prism_router: field 5 was", self.findings())

    def test_a_field_less(self):
        self.edit("sdk/include/prism/abi/host.h", "void (*log)(void* ctx, int32_t level, prism_str_t message)"
                  " PRISM_NOEXCEPT;", "")
        self.raise_minor()
        self.assertIn("now it is nothing", self.findings())

    def test_another_number(self):
        self.edit("sdk/include/prism/abi/comm.h", "PRISM_DTYPE_BF16 7", "PRISM_DTYPE_BF16 6")
        self.raise_minor()
        self.assertIn("macro PRISM_DTYPE_BF16 was 7, now it is 6", self.findings())


if __name__ == "__main__":
    unittest.main(verbosity=2)
