# SPDX-License-Identifier: Apache-2.0
"""What `prism plugin check` says of plugins that are wrong in one way each: of every conformance test there is
at least one plugin whose first failing test it is. Tests that cannot run for it report `blocked`.

The plugins are mutants/*.c, compiled with -DMUTANT_name; building.py says what it needs."""

import pathlib
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor

import building
from building import check

# kind -> [(mutant, first test that does not pass, its outcome, words of the reason)]
ROUTER = [
    ("extra_export", "S0.exports", "fail", "exports helper_of_mine beside prism_plugin_v1"),
    ("no_entry", "S0.exports", "fail", "does not export prism_plugin_v1"),
    ("aborts_on_load", "S1.load", "crash", "SIGABRT during loading the library"),
    ("exits_on_load", "S1.load", "crash", "exit code 0 during loading"),
    ("forks_on_load", "S1.load", "fail", "left 1 processes running"),
    ("hangs_on_load", "S1.load", "timeout", "during loading the library"),
    ("slow_load", "S1.load", "warn", "loading takes"),
    ("writes_on_load", "S1.load", "warn", "left files in the current folder"),
    ("prints_on_load", "S1.quiet", "fail", "it printed 22 bytes"),
    ("thread_on_load", "S1.threads", "fail", "loading started 1 threads"),
    ("locale_on_load", "S1.process", "fail", "after loading, the locale is 'C.UTF-8'"),
    ("no_table", "S2.entry", "fail", "returned no table"),
    ("table_moves", "S2.entry", "fail", "another table each time"),
    ("small_table", "S2.table", "fail", "24 bytes, plugin ABI 1.0 has 72"),
    ("huge_table", "S2.table", "fail", "claims 4294967295 bytes"),
    ("reserved_set", "S2.table", "fail", "reserved field of its table is not 0"),
    ("other_major", "S2.table", "fail", "built for plugin ABI 2.0"),
    ("id_not_utf8", "S2.table", "fail", "no UTF-8 text"),
    ("other_id", "S2.manifest", "fail", "its library 'somebody_else'"),
    ("other_version", "S2.manifest", "fail", "its library 9.9.9"),
    ("init_fails", "S2.init", "fail", "the licence server is on fire"),
    ("init_fails_silently", "S2.init", "fail", "status INTERNAL and no message"),
    ("crashes_in_init", "S2.init", "crash", "SIGABRT during init()"),
    ("interface_missing", "S2.interfaces", "fail", "has no prism.router/1"),
    ("interface_moves", "S2.interfaces", "fail", "another table each time"),
    ("half_interface", "S2.interfaces", "fail", "lacks the function counts"),
    ("any_interface", "S2.unlisted", "fail", "which its manifest does not list"),
    ("ignores_length", "S2.unlisted", "fail", "'prism.router/10'"),
    ("prefix_matches", "S2.unlisted", "fail", "which its manifest does not list"),
    ("init_once", "S3.init_twice", "fail", "init was called already"),
    ("deinit_once", "S3.init_twice", "crash", "SIGABRT during deinit()"),
    ("thread_after_deinit", "S3.threads", "fail", "leaves 1 threads running"),
    ("ignores_interrupts", "S3.process", "fail", "after init(), SIGINT is handled in another way"),
    ("closes_input", "S3.router.process", "fail", "after open(), the descriptor 0"),
    ("replaces_input", "S3.router.process", "fail", "is another file"),
    ("blocks_signals", "S3.router.process", "fail", "blocks other signals"),
    ("lowers_limit", "S3.router.process", "fail", "the resource limit number 7"),
    ("sets_umask", "S3.router.process", "fail", "the umask"),
    ("changes_folder", "S3.router.process", "fail", "the current folder is '/'"),
    ("sets_variable", "S3.router.process", "fail", "variable OMP_NUM_THREADS"),
    ("sets_locale", "S3.router.process", "fail", "the locale is 'C.UTF-8'"),
    ("refuses_defaults", "S3.router.open_close", "fail", "refuses the defaults"),
    ("no_session", "S3.router.open_close", "fail", "without writing a session"),
    ("few_sessions", "S3.router.open_close", "crash", "SIGABRT during open()"),
    ("forks_and_goes_on", "S3.router.leftovers", "fail", "it forked the process"),
    ("leaks_files", "S3.router.leftovers", "fail", "files open"),
    ("one_session", "S3.router.two_sessions", "fail", "after another was used and closed"),
    ("bad_default", "S4.router.table", "fail", "default of 'spread'"),
    ("default_no_toml", "S4.router.table", "fail", "default of 'spread'"),
    ("min_above_max", "S4.router.table", "fail", "smallest value above its largest"),
    ("no_doc", "S4.router.table", "fail", "has no documentation"),
    ("crashes_at_bound", "S4.router.allowed_values", "crash", "'spread' = 10"),
    ("refuses_bound", "S4.router.allowed_values", "warn", "spread is too large"),
    ("refuses_choice_silently", "S4.router.allowed_values", "fail", "no message"),
    ("any_number_of_values", "S4.router.wrong_values", "fail", "one value too few"),
    ("any_type_of_value", "S4.router.wrong_values", "fail", "wrong type for option 'spread'"),
    ("crashes_on_nan", "S4.router.fuzz", "crash", "random values"),
    ("writes_before", "S5.router.buffers", "fail", "bytes before its"),
    ("writes_behind", "S5.router.buffers", "fail", "bytes behind the"),
    ("wrong_code_of_refusal", "S5.router.buffers", "fail", "status INTERNAL"),
    ("above_tokens", "S5.router.counts", "fail", "expert 0 gets 128 tokens"),
    ("sum_too_small", "S5.router.counts", "fail", "the sum is 127"),
    ("late_micro_batch", "S5.router.counts", "fail", "micro_batch 100"),
    ("tokens_from_nothing", "S5.router.no_tokens", "fail", "expert 0 gets 2 tokens"),
    ("lone_expert_idle", "S5.router.one_expert", "fail", "the sum is 0"),
    ("all_experts_uneven", "S5.router.all_experts", "fail", "expert 0 gets 2 tokens"),
    ("counts_in_16_bits", "S5.router.large", "fail", "the sum is"),
    ("same_expert_twice", "S5.router.assign", "fail", "the same expert twice"),
    ("other_than_counts", "S5.router.assign", "fail", "expert 0 comes"),
    ("expert_beyond", "S5.router.assign", "fail", "the expert 8 of 8"),
    ("counts_calls", "S5.router.assign", "fail", "times, counts()"),
    ("no_bf16", "S5.router.logits", "fail", "as bf16"),
    ("ties", "S5.router.logits", "fail", "token 0 has two logits"),
    ("ties_in_bf16", "S5.router.logits", "fail", "token 0 has two logits"),
    ("reversed", "S5.router.logits", "fail", "token 0 has the expert"),
    ("lowest_wins", "S5.router.logits", "fail", "token 0 has the expert"),
    ("infinite", "S5.router.logits", "fail", "token 0 has a logit"),
    ("option_spoils_sum", "S5.router.options", "fail", "spread = 7"),
    ("option_spoils_assignment", "S5.router.options", "fail", "the same expert twice"),
    ("accepts_top_k_0", "S6.router.refuses", "fail", "top_k 0"),
    ("says_nothing", "S6.router.messages", "fail", "no message"),
    ("says_twice", "S6.router.messages", "fail", "reported 2 errors"),
    ("says_other_code", "S6.router.messages", "fail", "reported status INTERNAL"),
    ("says_no_utf8", "S6.router.messages", "fail", "no UTF-8"),
    ("unknown_code", "S6.router.messages", "fail", "status 4711"),
    ("needs_sink", "S6.router.no_sink", "crash", "SIGSEGV"),
    ("never_again", "S6.router.goes_on", "fail", "it gives other results"),
    ("log_level", "S6.router.log", "fail", "unknown level 9"),
    ("log_not_utf8", "S6.router.log", "fail", "no UTF-8"),
    ("needs_log", "S6.router.no_log", "crash", "SIGABRT"),
    ("host_minor_exact", "S7.newer_host", "fail", "unknown minor version"),
    ("host_size_exact", "S7.newer_host", "fail", "unknown host"),
    ("reads_behind_host", "S7.host_1_0", "crash", "SIGSEGV during init()"),
    ("request_size_exact", "S7.router.longer_structs", "fail", "struct of a later version"),
    ("reads_behind_request", "S7.router.structs_1_0", "crash", "SIGSEGV"),
    ("session_of_thread", "S8.router.other_thread", "fail", "another thread"),
    ("shared_scratch", "S8.router.concurrent", "fail", "state that they share"),
    ("counts_calls only_counts", "S9.router.repeat", "fail", "asked again"),
    ("remembers", "S9.router.order", "fail", "gives other bytes when"),
    ("process_id", "S9.router.processes", "fail", "another process gives other bytes"),
    ("address", "S9.router.processes", "fail", "another process gives other bytes"),
    ("aborts_at_end", "S10.end", "crash", "SIGABRT during ending the process"),
    ("aborts_at_unload", "S10.unload", "crash", "SIGABRT during unloading"),
]
SOURCE = [
    ("frees_twice", "S3.tensor_source.open_close", "crash", "SIGABRT during close()"),
    ("sets_umask", "S3.tensor_source.process", "fail", "the umask"),
    ("thread_per_session", "S3.tensor_source.leftovers", "fail", "threads of it still run"),
    ("one_session", "S3.tensor_source.two_sessions", "fail", "after another was used and closed"),
    ("bad_default", "S4.tensor_source.table", "fail", "default of 'spread'"),
    ("crashes_at_bound", "S4.tensor_source.allowed_values", "crash", "'spread' = 10"),
    ("any_number_of_values", "S4.tensor_source.wrong_values", "fail", "one value too few"),
    ("crashes_on_nan", "S4.tensor_source.fuzz", "crash", "random values"),
    ("one_element_more", "S5.tensor_source.buffers", "fail", "bytes behind the end"),
    ("four_bytes_each", "S5.tensor_source.buffers", "fail", "bytes behind the end"),
    ("refuses_empty", "S5.tensor_source.buffers", "fail", "nothing to do"),
    ("one_element", "S5.tensor_source.every_element", "fail", "element 1 of 15 is not written"),
    ("accepts_unknown_dtype", "S5.tensor_source.every_element", "fail", "is not written"),
    ("last_element_missing", "S5.tensor_source.shapes", "fail", "element 999 of 1000"),
    ("scalars_missing", "S5.tensor_source.shapes", "fail", "element 0 of 1 is not written"),
    ("only_whole_and_last_missing", "S5.tensor_source.shapes", "fail", "element 999 of 1000"),
    ("option_leaves_gap", "S5.tensor_source.options", "fail", "spread = 7"),
    ("bools_of_any_byte", "S5.tensor_source.bools", "fail", "a bool is 0 or 1"),
    ("writes_to_null", "S6.tensor_source.refuses", "crash", "SIGSEGV"),
    ("says_nothing", "S6.tensor_source.messages", "fail", "no message"),
    ("needs_sink", "S6.tensor_source.no_sink", "crash", "SIGSEGV"),
    ("never_again", "S6.tensor_source.goes_on", "fail", "it gives other results"),
    ("log_not_utf8", "S6.tensor_source.log", "fail", "no UTF-8"),
    ("needs_log", "S6.tensor_source.no_log", "crash", "SIGABRT"),
    ("tensor_size_exact", "S7.tensor_source.longer_structs", "fail", "struct of a later version"),
    ("reads_behind_tensor", "S7.tensor_source.structs_1_0", "crash", "SIGSEGV"),
    ("session_of_thread", "S8.tensor_source.other_thread", "fail", "another thread"),
    ("shared_scratch", "S8.tensor_source.concurrent", "fail", "state that they share"),
    ("counts_calls", "S9.tensor_source.repeat", "fail", "asked again"),
    ("remembers", "S9.tensor_source.order", "fail", "gives other bytes when"),
    ("clock", "S9.tensor_source.processes", "fail", "another process gives other bytes"),
]
FORMAT = [
    ("frees_twice", "S3.format.open_close", "crash", "SIGABRT during close()"),
    ("thread_per_session", "S3.format.leftovers", "fail", "threads of it still run"),
    ("sets_umask", "S3.format.process", "fail", "the umask"),
    ("one_session", "S3.format.two_sessions", "fail", "after another was used and closed"),
    ("bad_default", "S4.format.table", "fail", "default of 'spread'"),
    ("default_no_toml", "S4.format.table", "fail", "default of 'spread'"),
    ("crashes_at_bound", "S4.format.allowed_values", "crash", "'spread' = 10"),
    ("any_number_of_values", "S4.format.wrong_values", "fail", "one value too few"),
    ("crashes_on_nan", "S4.format.fuzz", "crash", "random values"),
    ("refuses_empty_rank", "S5.format.exports", "fail", "a rank has no nodes"),
    ("writes_nothing", "S5.format.exports", "fail", "writes nothing"),
    ("writes_beside", "S5.format.path", "fail", "writes 'export.index'"),
    ("renames", "S5.format.path", "fail", "removes what it was to write"),
    ("cuts_names", "S5.format.names", "fail", "not what import_trace() makes of"),
    ("plain_letters_only", "S5.format.names", "fail", "a\\x0ab"),
    ("crashes_on_long_name", "S5.format.names", "crash", "SIGABRT"),
    ("times_in_32_bits", "S5.format.times", "fail", "writes the same of a node of 1000000 ns"),
    ("ignores_full_disk", "S5.format.full_disk", "fail", "full after 0 bytes succeeds"),
    ("leaks_on_full_disk", "S5.format.export_files", "fail", "left 5 files open"),
    ("recognises_everything", "S5.format.recognises", "fail", "takes an empty file"),
    ("recognises_empty", "S5.format.recognises", "fail", "takes an empty file"),
    ("recognises_as_difference", "S5.format.recognises", "fail", "not 0 or 1"),
    ("tells_nothing", "S5.format.imports", "fail", "it tells of no rank"),
    ("lane_beyond", "S5.format.imports", "fail", "it is on lane 2 of 2"),
    ("ends_before_start", "S5.format.imports", "fail", "it ends before it starts"),
    ("overlaps", "S5.format.imports", "fail", "before the node before it"),
    ("dependency_ahead", "S5.format.imports", "fail", "it depends on node 5"),
    ("recognises_nothing", "S5.format.imports", "fail", "recognises() none of the files"),
    ("crashes_on_beginning", "S5.format.recognises_own", "crash", "the first 1 bytes"),
    ("ignores_refusal", "S5.format.refusal", "fail", "refuses what call 0 tells succeeds"),
    ("goes_on_after_refusal", "S5.format.refusal", "fail", "the first refusal ends it"),
    ("hides_refusal", "S5.format.refusal", "fail", "does not pass on the words"),
    ("code_of_its_own", "S5.format.refusal", "fail", "into ABORTED"),
    ("crashes_on_random", "S5.format.random", "crash", "4096 random bytes"),
    ("hangs_on_random", "S5.format.random", "timeout", "4096 random bytes"),
    ("accepts_random", "S5.format.random", "fail", "4096 random bytes succeeds"),
    ("random_is_internal", "S5.format.random", "fail", "INTERNAL"),
    ("takes_cut_files", "S5.format.cut", "fail", "for whole ones"),
    ("crashes_on_cut", "S5.format.cut", "crash", "SIGABRT"),
    ("crashes_on_damage", "S5.format.damaged", "crash", "a damaged trace"),
    ("believes_length", "S5.format.damaged", "crash", "SIGSEGV"),
    ("leaks_on_damage", "S5.format.open_files", "fail", "left 5 files open"),
    ("accepts_missing_file", "S6.format.refuses", "fail", "a file that is not there succeeds"),
    ("says_nothing", "S6.format.messages", "fail", "no message"),
    ("error_without_file", "S6.format.names_file", "fail", "does not name the file 'nowhere-7.0.et'"),
    ("error_without_path", "S6.format.names_path", "fail", "does not name the file 'export-7'"),
    ("needs_sink", "S6.format.no_sink", "crash", "SIGSEGV"),
    ("never_again", "S6.format.goes_on", "fail", "it gives other results"),
    ("log_not_utf8", "S6.format.log", "fail", "no UTF-8"),
    ("needs_log", "S6.format.no_log", "crash", "SIGABRT"),
    ("session_of_thread", "S8.format.other_thread", "fail", "another thread"),
    ("counts_calls", "S9.format.repeat", "fail", "asked again"),
    ("remembers", "S9.format.order", "fail", "gives other bytes when"),
    ("process_id", "S9.format.processes", "fail", "another process gives other bytes"),
]
# Of a draft without semantics to test.
LAUNCHER = [
    ("bad_default", "S4.launcher.table", "fail", "default of 'spread'"),
    ("default_no_toml", "S4.launcher.table", "fail", "default of 'spread'"),
    ("no_doc", "S4.launcher.table", "fail", "has no documentation"),
]
BESIDE = ["-Wl,--no-as-needed", "-L{folder}", "-Wl,-rpath,$ORIGIN/.."]
# What the linker is told, or done to the file: [(name, flags, first test, outcome, words)]
LINKED = [
    ("machine_path", ["-Wl,-rpath,/opt/mine/lib"], "S0.search_path", "fail", "'/opt/mine/lib'"),
    ("executable_stack", ["-Wl,-z,execstack"], "S0.stack", "fail", "executable stack"),
    ("needs_core", [*BESIDE, "-lprism_core"], "S0.needed", "fail", "is linked to libprism_core.so"),
    ("needs_python", [*BESIDE, "-lpython3.99"], "S0.needed", "warn", "is linked to libpython3.99.so"),
    ("stays_loaded", ["-Wl,-z,nodelete"], "S10.unload", "warn", "stays in memory after it was closed"),
]
class Mutants(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="prism-mutants-")
        cls.addClassCleanup(folder.cleanup)
        cls.root = pathlib.Path(folder.name)
        for name in ("prism_core", "python3.99"):
            building.build_library(cls.root / f"lib{name}.so")

    def build(self, kind, mutant, flags=()):
        return building.build_mutant(self.root, kind, mutant, [flag.format(folder=self.root) for flag in flags])

    def results(self, folder):
        return building.results(folder, "--timeout", "3")

    def judge(self, case):
        """What is not as the table says about this mutant; empty: all is."""
        kind, mutant, flags, test, outcome, words = case
        code, document = self.results(self.build(kind, mutant, flags))
        wrong = [r for r in document["results"] if r["outcome"] not in ("pass", "skip", "blocked")]
        if not wrong:
            return f"{kind} {mutant}: nothing is found"
        first = wrong[0]
        if (first["test"], first["outcome"]) != (test, outcome) or words not in first["reason"]:
            return f"{kind} {mutant}: expected {test} {outcome} '{words}', got {first}"
        fails = outcome != "warn"
        if code != (3 if fails else 0):
            return f"{kind} {mutant}: exit code {code}"
        if fails and f"--only {test} " not in first.get("repro", ""):
            return f"{kind} {mutant}: its repro is {first.get('repro')}"
        return ""

    def cases(self):
        yield from (("router", m, (), t, o, w) for m, t, o, w in ROUTER)
        yield from (("tensor_source", m, (), t, o, w) for m, t, o, w in SOURCE)
        yield from (("format", m, (), t, o, w) for m, t, o, w in FORMAT)
        yield from (("launcher", m, (), t, o, w) for m, t, o, w in LAUNCHER)
        yield from (("router", m, f, t, o, w) for m, f, t, o, w in LINKED)

    def test_every_mutant_is_caught(self):
        with ThreadPoolExecutor(2) as pool:
            problems = [p for p in pool.map(self.judge, self.cases()) if p]
        self.assertEqual(problems, [])
        self.assertGreaterEqual(len(list(self.cases())), 100)

    def test_every_conformance_test_catches_one(self):
        caught = {case[3] for case in self.cases()} | {"S0.elf"}  # below
        for kind in ("router", "tensor_source", "format"):
            names = [line.split()[0] for line in check(self.build(kind, "none"), "--list").stdout.splitlines()]
            self.assertGreater(len(names), 40)
            self.assertEqual([name for name in names if name not in caught], [])

    def test_the_original_is_right(self):
        for kind in ("router", "tensor_source", "format", "launcher"):
            result = check(self.build(kind, "none"))
            self.assertEqual(result.returncode, 0, result.stdout)
            self.assertNotIn("warn", result.stdout)

    def test_companions(self):
        folder = self.build("router", "none")
        companion = "[[companion]]\nfile = \"libbeside.so\"\nexports = [\"promised\"]\n"
        building.write_manifest(folder, "router", companion)
        for source, words in (("int promised(void) { return 1; }", ""),
                              ("int other(void) { return 1; }", "libbeside.so lacks promised"),
                              ("int promised(void) { return 1; } int other(void) { return 2; }",
                               "libbeside.so exports other")):
            building.build_library(folder / "libbeside.so", source)
            code, document = building.results(folder, "--level", "0")
            self.assertEqual(code, 3 if words else 0, document)
            self.assertEqual(document["results"][-1]["test"], "S0.companions")
            self.assertIn(words, document["results"][-1]["reason"])

    def test_a_symbol_that_is_nowhere(self):
        folder = self.build("router", "none")
        building.build_library(folder / "libprism_mutant.so", "void plan_tokens(void);\n"
                               "const void* prism_plugin_v1(void) { plan_tokens(); return 0; }\n", ["-Wl,-z,lazy"])
        code, document = self.results(folder)
        first = next(r for r in document["results"] if r["outcome"] not in ("pass", "skip"))
        self.assertEqual((code, first["test"]), (3, "S1.load"))
        self.assertIn("plan_tokens", first["reason"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
