# SPDX-License-Identifier: Apache-2.0
"""A router plugin inside the ranks, and the hook that puts it into an unmodified program."""

import shutil
import unittest

from support import FIXTURES, PYTHON, SOURCE, RunCase, train

EXAMPLE = SOURCE / "examples" / "moe"

# What a hook may ask, and what it gets.
ASKS = """
import torch, prism_router, torch.distributed as dist
assert prism_router.available()
router = prism_router.Router()
shape = dict(tokens=1000, experts=16, top_k=3, layer=2)
counts = router.counts(**shape)
experts = router.assign(**shape)
assert counts.dtype == torch.int64 and counts.sum() == 3000 and counts.max() > 2 * counts.min()
assert torch.equal(experts.flatten().bincount(minlength=16), counts)
for dtype in (torch.float32, torch.bfloat16):
    logits = router.logits(**shape, dtype=dtype)
    assert logits.shape == (1000, 16) and logits.dtype == dtype
    assert torch.equal(logits.softmax(-1).topk(3).indices, experts)
assert torch.equal(router.counts(**shape), counts)
assert not torch.equal(router.assign(**shape, micro_batch=1), experts)
assert router.logits(0, 16, 3).shape == (0, 16)
rank = dist.get_rank()
received = router.received(**shape)
assert received.shape == (4, 4) and received.dtype == torch.int64
assert torch.equal(received[rank], counts[4 * rank:4 * rank + 4])
assert torch.equal(router.received(**shape, ranks=[3, rank])[1], counts[8:])
assert router.received(**{**shape, "tokens": 0}).sum() == 0
for ranks in ([1, 2, 3], [rank, 1, 2], []):
    try:
        router.received(**shape, ranks=ranks)
        raise SystemExit(f"{ranks} hold the experts")
    except RuntimeError:
        pass
for wrong in (dict(top_k=17), dict(top_k=0), dict(experts=0), dict(tokens=-1), dict(layer=-1)):
    try:
        router.counts(**{**shape, **wrong})
        raise SystemExit(f"{wrong} was routed")
    except RuntimeError:
        pass
"""


def unruly(where, way):
    return f"""
[plugins]
router = "unruly_router"
[plugins.path]
unruly_router = "{FIXTURES}/unruly_router"
[plugins.options.unruly_router]
where = "{where}"
way = "{way}"
"""


class Routers(RunCase):
    def with_hook(self, hook, job=None, *, more="[plugins]\nrouter = \"zipf\"\n", **options):
        (self.folder / "hook.py").write_text(hook)
        options.setdefault("parallel", "check_replicas = 0")
        file = self.experiment(job or train(), more=more, **options)
        file.write_text(file.read_text().replace(f'python = "{PYTHON}"\n',
                                                 f'python = "{PYTHON}"\nhook = "hook.py"\n'))
        return file

    def test_what_a_hook_may_ask(self):
        job = train(after='exec(open("asks.py").read())')
        (self.folder / "asks.py").write_text(ASKS)
        self.assert_ok(self.prism("run", self.with_hook("import prism_router", job)))

    def test_without_a_router(self):
        hook = """
import prism_router
assert not prism_router.available()
prism_router.Router()
"""
        result = self.prism("run", self.with_hook(hook, more=""))
        self.assert_fails(result, 1, "rank 0 ended with exit code 1", "hook.py failed",
                          "RuntimeError: there is no router: set [plugins] router")
        self.assert_nothing_left()

    def test_wrong_plugins_and_options(self):
        for more, code, texts in (
            ('[plugins]\nrouter = "zpif"\n', 3, ["no plugin 'zpif'", "did you mean 'zipf'?"]),
            ('[plugins]\nrouter = "zeros"\n', 3, ["has no prism.router/1"]),
            ('[plugins]\nrouter = "zipf"\n[plugins.options.zipf]\nexponent = -1\n', 2,
             ["experiment.toml:", "'exponent' in [plugins.options.zipf]"]),
            ("[plugins.options.zipf]\nexponent = 1\n", 2, ["uses no plugin of that id"]),
        ):
            with self.subTest(more=more):
                self.assert_fails(self.prism("run", self.with_hook("", more=more)), code, *texts)
        file = self.with_hook("")
        (self.folder / "hook.py").unlink()
        self.assert_fails(self.prism("run", file), 2, "hook.py' of the option 'hook' is not there")

    def test_a_router_that_ends_its_rank_is_named(self):
        hook = "import prism_router\nprism_router.Router().logits(8, 4, 2)\n"
        for where, way, how in (("counts", "exit 0", "it ended the process with exit code 0"),
                                ("counts", "segfault", "signal 11 (Segmentation fault)"),
                                ("assign", "exit 3", "it ended the process with exit code 3"),
                                ("logits", "_exit 0", "it ended the process with exit code 0")):
            with self.subTest(where=where, way=way):
                result = self.prism("run", self.with_hook(hook, more=unruly(where, way)))
                self.assert_fails(result, 3, "plugin 'unruly_router' (libprism_unruly_router.so "
                                  f"0.1.0): {where}() did not come back in rank 0: {how}")
                self.assertNotIn("sys.exit", result.stderr)
                self.assert_nothing_left()

    def test_what_comes_back_is_not_blamed(self):
        hook = "import prism_router\nprism_router.Router().logits(8, 4, 2)\nraise SystemExit(5)\n"
        result = self.prism("run", self.with_hook(hook))
        self.assert_fails(result, 1, "hook.py failed")
        self.assertNotIn("did not come back", result.stderr)

    def test_a_router_that_cannot_be_opened_and_closed_is_tried_before_any_rank(self):
        for where, way, how in (("open", "crash", "signal 6 (Aborted)"),
                                ("open", "exit 0", "it called exit"),
                                ("open", "exit 3", "exit code 3"),
                                ("close", "segfault", "signal 11"),
                                ("close", "_exit 0", "it called exit"),
                                ("close", "hang", "no answer within")):
            with self.subTest(where=where, way=way):
                result = self.prism("run", self.with_hook("", more=unruly(where, way)))
                self.assert_fails(
                    result, 3, "trying the plugins of this experiment in a process of their own",
                    f"plugin 'unruly_router' (libprism_unruly_router.so 0.1.0): {where}() did not "
                    f"come back in the process that tries it: {how}")
                self.assertFalse((self.folder / "run" / "ranks").exists())
                self.assert_nothing_left()

    def test_hook_and_router_make_recordings_stale(self):
        file = self.with_hook("import prism_router\n")

        def executed():
            self.assert_ok(self.prism("run", file))
            return self.metrics()["executed"]["now"]

        self.assertEqual(executed(), 1)
        self.assertEqual(executed(), 0)
        (self.folder / "hook.py").write_text("import prism_router  # changed\n")
        self.assertEqual(executed(), 1)
        file.write_text(file.read_text() + "[plugins.options.zipf]\nexponent = 2\n")
        self.assertEqual(executed(), 1)

    def mixture(self, router, *, classes='"none"', more=""):
        """Runs the example on 8 ranks with 8 experts and a layer; gives what it printed."""
        folder = self.folder / "moe"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("runs"))
        file = folder / "experiment.toml"
        text = file.read_text()
        for old, new in (('"--experts", "16", "--steps", "8"', '"--experts", "8", "--steps", "4", "--layers", "1"'),
                         ("world_size = 16", "world_size = 8"),
                         ('classes = "none"', f"classes = {classes}"),
                         ('router = "balanced"', f'router = "{router}"'),
                         ("[plugins.options.torch]", f'[plugins.options.torch]\npython = "{PYTHON}"'),
                         ("runs/moe-16", str(self.folder / "run"))):
            self.assertIn(old, text)
            text = text.replace(old, new)
        file.write_text(text + more)
        result = self.prism("run", file)
        self.assert_ok(result)
        return result.stdout

    def received(self):
        """Bytes that peers sent in all-to-alls, made up, over all executed ranks."""
        return {m["operation"]: m["bytes"] for m in self.metrics()["made_up"]}["all_to_all"]

    def test_mixture_of_experts(self):
        """The example, its gates replaced: with 'balanced' every pair of ranks sends the same."""
        self.mixture("balanced")
        ranks, steps, tokens, top_k, hidden = 8, 4, 4 * 128, 2, 128
        # Of 8 parts one is this rank's own. Tokens go there and back, and their gradients do.
        self.assertEqual(self.received(), ranks * steps * 7 * (8 + 4 * tokens * top_k * hidden * 4 // 8))
        self.assertEqual(self.metrics()["notes"], [n for n in self.metrics()["notes"] if "busy" in n])

    def test_hot_experts_are_slow(self):
        """The hotter, the slower: transfers of the rank that has the hottest expert. How long it computes is measured, so
        only that it is not shorter can be said on a machine that others use, and of the extremes."""
        transfer, iteration = [], []
        for exponent in (0, 1, 2):
            self.mixture("zipf", more=f"\n[plugins.options.zipf]\nexponent = {exponent}\n")
            metrics = self.metrics()
            transfer.append(max(c["communication_ns"] for c in metrics["classes"]))
            iteration.append(metrics["predicted"]["iteration_time_ns"]["median"])
        self.assertEqual(transfer, sorted(set(transfer)), transfer)
        self.assertGreater(iteration[2], iteration[0], iteration)

    def test_a_hot_rank_in_a_class_of_its_own(self):
        """What does not add up, since the other ranks share a class, is said."""
        out = self.mixture("zipf", classes='["0", "1-7"]\ncheck_replicas = 0')
        self.assertEqual(self.metrics()["executed"], {"now": 2, "reused": 0})
        self.assertIn("all-to-alls do not add up (at worst, in the", out)


if __name__ == "__main__":
    unittest.main()
