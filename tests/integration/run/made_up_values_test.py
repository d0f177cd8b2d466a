# SPDX-License-Identifier: Apache-2.0
"""Rules for what absent peers would have sent: what the program gets, and that it is said."""

import collections
import struct
import unittest

from support import FIXTURES, RunCase, train


def rule(source, **match):
    """A [[collect.rule]]; `source`: what stands in its braces."""
    conditions = ", ".join(f"{key} = {value}" for key, value in match.items())
    return f"[[collect.rule]]\nmatch = {{ {conditions} }}\nsource = {{ {source} }}\n"


TWO = 'id = "constant", value = 2'

# For two ranks: every operation in which a rank receives. `got` names what came.
EVERYTHING = """
import torch, torch.distributed as dist
dist.init_process_group("gloo")
rank = dist.get_rank()
other = 1 - rank
mine = torch.full((2, 3), 7.0)
got = {}

def exchange(out, tag=0, source=other):
    sent = dist.isend(mine, other, tag=tag)
    dist.recv(out, source, tag=tag)
    sent.wait()
    return out

got["all_reduce"] = mine.clone(); dist.all_reduce(got["all_reduce"])
parts = [torch.empty(2, 3) for _ in range(2)]; dist.all_gather(parts, mine)
got["all_gather own"], got["all_gather"] = parts[rank], parts[other]
flat = torch.empty(4, 3); dist.all_gather_into_tensor(flat, mine)
got["flat own"], got["flat"] = flat.view(2, 2, 3)[rank], flat.view(2, 2, 3)[other]
got["reduce_scatter"] = torch.empty(2, 3)
dist.reduce_scatter_tensor(got["reduce_scatter"], mine.repeat(2, 1))
out = torch.empty(2, 3); dist.all_to_all_single(out, torch.full((2, 3), 7.0))
got["all_to_all own"], got["all_to_all"] = out[rank], out[other]
for root in (0, 1):
    is_root = root == rank
    tensor = mine.clone(); dist.broadcast(tensor, root)
    got["broadcast own" if is_root else "broadcast"] = tensor
    tensor = torch.empty(2, 3); dist.scatter(tensor, [mine, mine] if is_root else None, root)
    got["scatter own" if is_root else "scatter"] = tensor
    tensor = mine.clone(); dist.reduce(tensor, root)
    got["reduce" if is_root else "reduce own"] = tensor
    parts = [torch.empty(2, 3) for _ in range(2)]; dist.gather(mine, parts if is_root else None, root)
    if is_root:
        got["gather own"], got["gather"] = parts[rank], parts[other]
got["recv"] = exchange(torch.empty(2, 3))
got["recv any"] = exchange(torch.empty(2, 3), tag=1, source=None)
got["strided"] = exchange(torch.zeros(3, 2).t(), tag=2)

objects = [None, None]
dist.all_gather_object(objects, {"rank": rank})
assert objects[rank] == {"rank": rank}, objects
objects = [{"seed": 3}]; dist.broadcast_object_list(objects, src=0)
assert objects == [{"seed": 3}], objects
model = torch.nn.Linear(2, 2)
before = model.weight.detach().clone()
torch.nn.parallel.DistributedDataParallel(model)
assert torch.equal(model.weight, before)
"""


class MadeUpValues(RunCase):
    def run_rules(self, script, *rules, **options):
        options.setdefault("world_size", 2)
        options.setdefault("classes", '"none"')
        options.setdefault("parallel", "check_replicas = 0")
        options["more"] = options.get("more", "") + "".join(rules)
        return self.prism("run", self.experiment(script, **options))

    def sources(self):
        """Bytes by operation and source."""
        total = collections.Counter()
        for one in self.metrics()["made_up"]:
            total[one["operation"], one["source"]] += one["bytes"]
        return total

    def test_every_operation(self):
        """What peers would have sent comes of the rule; own parts, objects and parameters do not."""
        check = """
for name, value in got.items():
    expected = 7.0 if name.endswith("own") else 2.0
    assert torch.equal(value, torch.full_like(value, expected)), (name, value)
dist.destroy_process_group()
"""
        result = self.run_rules(EVERYTHING + check, rule(TWO))
        self.assert_ok(result)
        self.assertIn("constant", result.stdout)
        tensors = {"all_reduce": 1, "all_gather": 2, "reduce_scatter": 1, "broadcast": 1,
                   "scatter": 1, "reduce": 1, "gather": 1, "recv": 3, "all_to_all": 0.5}
        self.assertEqual({op: size for (op, source), size in self.sources().items()
                          if source == "constant"},
                         {op: 2 * count * 2 * 3 * 4 for op, count in tensors.items()})
        self.assertNotIn(("all_reduce", "echo"), self.sources())

    def test_conditions_and_the_first_rule_that_matches(self):
        job = """
import torch, torch.distributed as dist
dist.init_process_group("gloo")
other = 1 - dist.get_rank()
pair = dist.new_group([0, 1], group_desc="pair")
def recv(shape, dtype, group=None):
    tensor = torch.empty(shape, dtype=dtype)
    sent = dist.isend(torch.ones(shape, dtype=dtype), other, group=group)
    dist.recv(tensor, other, group=group)
    sent.wait()
    return tensor.flatten().tolist()
assert recv((1,), torch.int64) == [3]                    # by call
assert recv((1,), torch.int64) == [4]                    # by type
assert recv((1,), torch.float32, pair) == [5.0]          # by group
assert recv((2, 2), torch.float32) == [6.0] * 4          # by shape
assert abs(recv((5,), torch.float32)[0]) < 1             # no rule: as ever
reduced = torch.ones(1); dist.all_reduce(reduced)
assert reduced.item() == (9.0 if other == 0 else 2.0)    # rank 1 has a rule
dist.destroy_process_group()
"""
        of = 'id = "constant", value = {}'.format
        self.assert_ok(self.run_rules(
            job,
            rule(of(9), ranks="[1]", op='"all_reduce"'),
            rule(of(8), ranks='"1"', op='"scatter"'),
            rule(of(3), op='"recv"', call=0, group='"default_pg"'),
            rule(of(4), dtype='"int64"'),
            rule(of(5), group='"pair"'),
            rule(of(6), shape="[2, -1]")))
        self.assertEqual(self.sources()["recv", "constant"], 2 * (8 + 8 + 4 + 16))
        self.assertEqual(self.sources()["all_reduce", "constant"], 4)
        self.assertEqual(self.sources()["all_reduce", "echo"], 4)

    def test_tokens_and_a_file(self):
        (self.folder / "values.bin").write_bytes(struct.pack("<3f", 1.5, -2.0, 0.25))
        job = """
import torch, torch.distributed as dist
dist.init_process_group("gloo")
rank = dist.get_rank()
for root in (0, 1):
    tokens = torch.empty(4, 100, dtype=torch.int64)
    dist.broadcast(tokens, root)
    if rank != root:
        assert 0 <= tokens.min() and tokens.max() < 50 and tokens.unique().numel() > 25, tokens
values = torch.ones(3)
dist.all_reduce(values)
assert values.tolist() == [1.5, -2.0, 0.25], values
dist.destroy_process_group()
"""
        file = 'id = "file", path = "values.bin"'
        self.assert_ok(self.run_rules(job, rule('id = "tokens", vocabulary = 50', dtype='"int64"'),
                                      rule(file, op='"all_reduce"')))
        self.assertEqual(self.sources(),
                         {("broadcast", "tokens"): 2 * 3200, ("all_reduce", "file"): 2 * 12})

    def test_rules_and_the_files_they_name_make_recordings_stale(self):
        (self.folder / "ones.bin").write_bytes(struct.pack("<4096f", *[1.0] * 4096))
        file = self.experiment(train(), parallel="check_replicas = 0",
                               more=rule('id = "file", path = "ones.bin"', shape="[64, 64]"))

        def executed():
            self.assert_ok(self.prism("run", file))
            return self.metrics()["executed"]["now"]

        self.assertEqual(executed(), 1)
        file.write_text("# A line more.\n" + file.read_text())
        self.assertEqual(executed(), 0)
        (self.folder / "ones.bin").write_bytes(struct.pack("<4096f", *[2.0] * 4096))
        self.assertEqual(executed(), 1)
        file.write_text(file.read_text().replace("[64, 64]", "[64, -1]"))
        self.assertEqual(executed(), 1)
        self.assertEqual(executed(), 0)

    def test_a_source_that_has_no_value_for_a_tensor(self):
        result = self.run_rules(train(), rule('id = "tokens", vocabulary = 50'))
        self.assert_fails(
            result, 1, "ended with exit code 1", "experiment.toml:",
            "plugin 'tokens' (libprism_tokens.so 0.1.0): fill(): tokens are whole numbers, and the "
            "tensor is of type 'f32'",
            " was to get f32 [64, 64], in call 0 of all_reduce on 'default_pg'")
        self.assert_nothing_left()

    def test_plugins_that_misbehave_are_named(self):
        path = f'[plugins.path]\nunruly_source = "{FIXTURES}/unruly_source"\n'
        fill = "plugin 'unruly_source' (libprism_unruly_source.so 0.1.0): fill()"
        died = f"{fill} did not come back in rank "  # whichever is first
        for way, collect, code, texts in (
            ("fail", "", 1, [f"{fill}: no value for that"]),
            ("throw", "", 1, [f"{fill}: something else"]),
            ("crash", "", 3, [died, ": signal 6 (Aborted)"]),
            ("segfault", "", 3, [died, ": signal 11 (Segmentation fault)"]),
            ("exit 0", "", 3, [died, ": it ended the process with exit code 0"]),
            ("exit 3", "", 3, [died, ": it ended the process with exit code 3"]),
            ("_exit 0", "", 3, [died, ": it ended the process with exit code 0"]),
            ("hang", 'timeout = "15 s"', 1, ["nothing that its agent can see for 15 s",
                                            f"inside a plugin: {fill}"]),
        ):
            with self.subTest(way=way):
                source = f'id = "unruly_source", where = "fill", way = "{way}"'
                result = self.run_rules(train(), rule(source), collect=collect, more=path)
                self.assert_fails(result, code, *texts)
                self.assertNotIn("sys.exit", result.stderr)
                self.assert_nothing_left()

    def test_a_rule_that_matches_nothing_is_said(self):
        result = self.run_rules(train(), rule('id = "constant", value = 1', op='"all_reduce"'),
                                rule('id = "zeros"', dtype='"bfloat16"'),
                                rule('id = "constant", value = 2', op='"broadcast"'))
        self.assert_ok(result)
        lines = (self.folder / "experiment.toml").read_text().splitlines()
        first, *others = [n for n, line in enumerate(lines, 1) if line.startswith("[[collect.rule]]")]
        notes = [n for n in self.metrics()["notes"] if "matched nothing" in n]
        self.assertEqual(len(notes), 2, notes)
        for place, note in zip(others, notes):
            self.assertIn(f"experiment.toml:{place}: this [[collect.rule]] matched nothing", note)
            self.assertIn(note, result.stdout)

    def test_wrong_rules(self):
        for source, code, texts in (
            ('id = "constnat", value = 1', 3,
             ["experiment.toml:", "no plugin 'constnat'", "did you mean 'constant'?"]),
            ('id = "local"', 3, ["plugin 'local'", "has no prism.tensor_source/1", "constant"]),
            ('id = "constant"', 2, ["experiment.toml:", "missing required key 'value' in "
                                    "[collect.rule.source]"]),
            ('id = "constant", value = "1"', 2, ["'value' in [collect.rule.source] must be a finite "
                                                 "number"]),
            ('id = "tokens", vocabulary = 0', 2, ["'vocabulary' in [collect.rule.source] must be"]),
            ('id = "zeros", value = 1', 2, ["unknown key 'value' in [collect.rule.source]"]),
            ('id = "file", path = "absent.bin"', 2,
             ["experiment.toml:", "plugin 'file' (libprism_file.so 0.1.0): open(): the file '",
              "absent.bin' cannot be opened"]),
        ):
            with self.subTest(source=source):
                self.assert_fails(self.run_rules(train(), rule(source)), code, *texts)


if __name__ == "__main__":
    unittest.main()
