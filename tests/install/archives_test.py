#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Debian package and the archive that cpack makes."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

BUILD = pathlib.Path(os.environ["PRISM_BUILD"])
CPACK = os.environ["PRISM_CPACK"]
FILES = {"bin/prism", "lib/prism/plugins/abi-1/local/plugin.toml",
         "lib/prism/plugins/abi-1/local/libprism_local.so",
         "lib/prism/plugins/abi-1/local/prism_guard", "include/prism/abi/plugin.h",
         "include/prism/sdk/testing/fake_host.hpp", "lib/cmake/prism/prismConfig.cmake",
         "share/prism/templates/router/cpp/CMakeLists.txt", "share/prism/templates/LICENSE", "share/doc/prism/copyright"}


def run(*words, **more):
    return subprocess.run([str(w) for w in words], check=True, capture_output=True, text=True,
                          timeout=500, **more).stdout


class Archives(unittest.TestCase):
    def setUp(self):
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="prism-archives-"))
        self.addCleanup(shutil.rmtree, self.scratch)

    def pack(self, generator, suffix):
        run(CPACK, "--config", BUILD / "CPackConfig.cmake", "-G", generator, "-B", self.scratch)
        (archive,) = self.scratch.glob(f"*{suffix}")
        return archive

    def runs(self, prefix):
        listed = run(prefix / "bin/prism", "plugin", "list", "--paths",
                     env={"HOME": str(self.scratch)})
        self.assertIn(str(prefix / "lib/prism/plugins/abi-1/local"), listed)

    @unittest.skipUnless(shutil.which("dpkg-deb"), "there is no dpkg-deb")
    def test_debian_package(self):
        package = self.pack("DEB", ".deb")
        content = {line.split(None, 5)[5] for line in run("dpkg-deb", "-c", package).splitlines()}
        self.assertEqual({f"./usr/{name}" for name in FILES} - content, set())
        self.assertEqual([name for name in content if not name.startswith(("./usr/", "./"))], [])
        depends = run("dpkg-deb", "-f", package, "Depends")
        self.assertIn("libc6", depends)
        self.assertNotIn("boost", depends)
        run("dpkg-deb", "-x", package, self.scratch / "root")
        self.runs(self.scratch / "root/usr")

    @unittest.skipUnless(shutil.which("zstd"), "there is no zstd")
    def test_archive(self):
        archive = self.pack("TZST", ".tar.zst")
        run("tar", "--zstd", "-xf", archive, "-C", self.scratch)
        (prefix,) = [p for p in self.scratch.iterdir() if (p / "bin/prism").exists()]
        self.assertEqual([name for name in FILES if not (prefix / name).exists()], [])
        self.runs(prefix)


if __name__ == "__main__":
    unittest.main(verbosity=2)
