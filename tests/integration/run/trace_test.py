# SPDX-License-Identifier: Apache-2.0
"""prism trace on a small job of eight ranks."""

import csv
import json
import os
import shutil
import unittest

from support import FIXTURES, PRISM, SOURCE, RunCase

EXAMPLE = SOURCE / "examples" / "trace" / "microbatch.csv"


class Trace(RunCase):
    def setUp(self):
        super().setUp()
        if "microbatch" not in self.prism("plugin", "list").stdout:
            self.skipTest("the plugin microbatch is not built")
        shutil.copy(EXAMPLE, self.folder / "job.csv")

    def refused(self, code, *words):
        result = self.prism("trace", *words)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        self.assertEqual(result.stdout, "")
        return result.stderr

    def measured(self):
        """Step -> ns from the first start to the last end, of the file itself."""
        spans = {}
        with EXAMPLE.open() as file:
            for row in csv.DictReader(file):
                start = round(float(row["start_ts"]) * 1e9)
                end = start + round(float(row["duration"]) * 1e9)
                first, last = spans.get(int(row["step"]), (start, end))
                spans[int(row["step"])] = (min(first, start), max(last, end))
        return [last - first for _, (first, last) in sorted(spans.items())]

    def test_steps_come_back(self):
        result = self.prism("trace", "info", "job.csv", "--json")
        self.assert_ok(result)
        info = json.loads(result.stdout)
        self.assertEqual((info["origin"], info["world_size"], info["nodes"]), ("microbatch trace", 8, 816))
        for iteration, measured in zip(info["iterations"], self.measured(), strict=True):
            self.assertAlmostEqual(iteration["observed_ns"], measured, delta=2)
            self.assertAlmostEqual(iteration["replayed_ns"], measured, delta=1000)
        text = self.prism("trace", "info", "job.csv").stdout
        self.assertIn("microbatch trace of 8 ranks: 816 nodes", text)
        self.assertRegex(text, r"deviation: mean 0\.00\d %")

    def test_exports(self):
        self.assert_ok(self.prism("trace", "export", "job.csv", "--to", "csv", "--output", "out.csv", "--iteration", "1"))
        with (self.folder / "out.csv").open() as file:
            rows = list(csv.DictReader(file))
        self.assertEqual({row["rank"] for row in rows}, {str(rank) for rank in range(8)})
        self.assertEqual(len(rows), 816 // 3)
        self.assertEqual({row["iteration"] for row in rows}, {"1"})
        self.assertIn("forward-compute", {row["name"] for row in rows})
        self.assertEqual(max(int(row["end_ns"]) for row in rows), 365635480)
        for row in rows:
            self.assertLessEqual(int(row["arrival_ns"]), int(row["start_ns"]))
            self.assertLessEqual(int(row["start_ns"]), int(row["end_ns"]))
        self.assert_ok(self.prism("trace", "export", "job.csv", "--to", "perfetto", "--output", "out.json"))
        timeline = json.loads((self.folder / "out.json").read_text())["traceEvents"]
        slices = [event for event in timeline if event["ph"] == "X"]
        self.assertEqual({event["pid"] for event in slices}, set(range(8)))
        self.assertIn("backward-compute", {event["name"] for event in slices})

    def test_a_folder_of_chakra_traces_comes_back(self):
        if "chakra" not in self.prism("plugin", "list").stdout:
            self.skipTest("the plugin chakra is not built")
        to_csv = ("--to", "csv", "--output")
        self.assert_ok(self.prism("trace", "export", "job.csv", *to_csv, "before.csv", "--iteration", "1"))
        to_chakra = ("trace", "export", "job.csv", "--to", "chakra", "--iteration", "1", "--output")
        for _ in range(2):  # the second replaces the first
            self.assert_ok(self.prism(*to_chakra, "out"))
        files = [f"out/trace.{rank}.et" for rank in range(8)]
        self.assertEqual({str(path.relative_to(self.folder)) for path in (self.folder / "out").iterdir()},
                         {*files, "out/comm_group.json"})
        self.assert_ok(self.prism("trace", "export", *files, *to_csv, "after.csv"))
        self.assertEqual((self.folder / "after.csv").read_text(), (self.folder / "before.csv").read_text())
        self.assertIn("would replace the trace 'out/trace.0.et'",
                      self.refused(2, "export", *files, "--to", "chakra", "--output", "out/"))
        (self.folder / "out" / "notes.txt").touch()
        self.assertIn("it has 'notes.txt'", self.refused(1, *to_chakra[1:], "out"))

    def test_mistakes(self):
        self.assertIn("there is no file 'nothing.csv'", self.refused(2, "info", "nothing.csv"))
        (self.folder / "other.txt").write_text("hello\n")
        self.assertIn("no format knows the file 'other.txt'; there are: ", self.refused(1, "info", "other.txt"))
        self.assertIn("cannot import", self.refused(2, "info", "job.csv", "--format", "csv"))
        self.assertIn("cannot export", self.refused(2, "export", "job.csv", "--to", "microbatch", "--output", "x"))
        self.assertIn("iterations 0 to 2",
                      self.refused(2, "export", "job.csv", "--to", "csv", "--output", "x", "--iteration", "3"))
        self.assertIn("--output is missing", self.refused(2, "export", "job.csv", "--to", "csv"))
        self.assertFalse((self.folder / "x").exists())

    def test_damaged_file(self):
        text = EXAMPLE.read_text()
        (self.folder / "cut.csv").write_text(text[:20000])
        self.assertIn("cut.csv:345: 3 columns; 11 were expected", self.refused(1, "info", "cut.csv"))
        lines = text.splitlines()
        send = next(n for n, line in enumerate(lines) if "forward-send" in line)
        (self.folder / "lost.csv").write_text("\n".join(lines[:send] + lines[send + 1:]) + "\n")
        self.assertIn("are received and not sent", self.refused(1, "info", "lost.csv"))

    def test_output_that_cannot_be(self):
        (self.folder / "out").mkdir()
        for output, why in (("out", "no regular file"), ("none/t.csv", "none/t.csv"), ("job.csv", "would replace the trace")):
            code = 2 if output == "job.csv" else 1
            self.assertIn(why, self.refused(code, "export", "job.csv", "--to", "csv", "--output", output))
        self.assertEqual((self.folder / "job.csv").read_text(), EXAMPLE.read_text())
        os.mkfifo(self.folder / "pipe.csv")
        self.assertIn("no regular file", self.refused(2, "info", "pipe.csv"))

    def test_a_broken_format_does_not_keep_others_from_their_files(self):
        source = PRISM.parent.parent / "lib" / "prism" / "plugins" / "abi-1" / "csv"
        broken = self.folder / "plugins" / "half"
        broken.mkdir(parents=True)
        manifest = (source / "plugin.toml").read_text()
        (broken / "plugin.toml").write_text(manifest.replace('id = "csv"', 'id = "half"'))
        (broken / "libprism_csv.so").write_bytes(b"")
        result = self.prism("trace", "info", "job.csv", "--plugin-path", str(self.folder / "plugins"))
        self.assert_ok(result)
        self.assertIn("left out: plugin 'half'", result.stderr)
        self.assertIn("8 ranks", result.stdout)

    def test_a_format_that_ends_its_process_is_named(self):
        for where in ("open", "close"):
            for way in ("exit 0", "_exit 0", "segfault"):
                with self.subTest(where=where, way=way):
                    errors = self.refused(3, "info", "job.csv", "--format", "unruly_format",
                                          "--plugin", str(FIXTURES / "unruly_format"),
                                          "--option", f"where={where}", "--option", f"way={way}")
                    self.assertIn(f"plugin 'unruly_format' (libprism_unruly_format.so 0.1.0): {where}() did not come back", errors)

    def test_a_trace_of_nothing(self):
        (self.folder / "empty.json").write_text(
            '{"schemaVersion": 1, "distributedInfo": {"rank": 0, "world_size": 1}, "traceEvents": []}')
        for words in (("info", "empty.json"), ("export", "empty.json", "--to", "csv", "--output", "x")):
            self.assertIn("shows no work", self.refused(1, *words))


if __name__ == "__main__":
    unittest.main()
