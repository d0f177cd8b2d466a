#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`prism plugin list`, `show` and `new`, and plugins of `prism run`: the search path, plugins that
misbehave, names that no plugin can have."""

import json
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

PRISM = pathlib.Path(os.environ["PRISM_PROGRAM"])
FIXTURES = pathlib.Path(os.environ["PRISM_FIXTURES"])
GOOD = FIXTURES / "good" / "all_options"
MISBEHAVING = FIXTURES / "misbehaving"
BAD = pathlib.Path(os.environ["PRISM_BAD_PLUGINS"])  # of tests/plugins


class Commands(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="prism-commands-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.home = self.folder / "home"
        self.home.mkdir()

    def run_prism(self, *words, cwd=None, program=PRISM, **environment):
        inherited = {k: v for k, v in os.environ.items()
                     if k not in ("XDG_DATA_HOME", "PRISM_PLUGIN_PATH")}
        return subprocess.run(
            [program, "plugin", *map(str, words)], cwd=cwd or self.folder, timeout=60, text=True,
            capture_output=True, check=False,
            env={**inherited, "HOME": str(self.home), **environment})

    def processes_with(self, plugin):
        """Those that have loaded a plugin of MISBEHAVING."""
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and f"libprism_{plugin}.so" in (entry / "maps").read_text():
                    found.append(entry.name)
            except OSError:
                pass
        return found

    def listed(self, *words, **more):
        done = self.run_prism("list", "--json", *words, **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["plugins"]

    def copy(self, where, plugin=GOOD):
        root = self.folder / where
        shutil.copytree(plugin, root / plugin.name)
        return root


class List(Commands):
    def test_the_programs_own_plugins(self):
        own = {p["id"]: p for p in self.listed()}
        self.assertEqual(own["local"]["status"], "ok")
        self.assertEqual(own["local"]["interfaces"], ["prism.launcher/1"])

    def test_search_order_and_shadowed_ones(self):
        data = self.copy("data/prism/plugins/abi-1")
        in_home = self.copy("home/.local/share/prism/plugins/abi-1")
        variable = self.copy("variable")
        flag = self.copy("flag")
        single = self.copy("single") / "all_options"

        def order(*words, **more):
            found = [p for p in self.listed(*words, **more) if p["id"] == "all_options"]
            self.assertEqual([p["status"] for p in found],
                             ["ok"] + ["shadowed"] * (len(found) - 1))
            for other in found[1:]:
                self.assertEqual(other["reason"], "found first in " + found[0]["path"])
            return [str(pathlib.Path(p["path"]).parent) for p in found]

        self.assertEqual(order(), [str(in_home)])
        self.assertEqual(
            order("--plugin-path", "flag", "--plugin", single, PRISM_PLUGIN_PATH=str(variable),
                  XDG_DATA_HOME=str(self.folder / "data")),
            [str(single.parent), str(flag), str(variable), str(data)])
        # A library stands for its folder.
        self.assertEqual(order("--plugin", single / "libprism_all_options.so")[0],
                         str(single.parent))

    def test_never_the_current_folder(self):
        here = self.copy("here")
        for cwd in (here, here / "all_options"):
            self.assertNotIn("all_options", [p["id"] for p in self.listed(cwd=cwd)])
        done = self.run_prism("list", cwd=here, PRISM_PLUGIN_PATH=".:")
        self.assertNotIn("all_options", done.stdout)
        self.assertIn("PRISM_PLUGIN_PATH: the entry '.' is not searched", done.stderr)
        self.assertIn("the entry after its last ':' is empty", done.stderr)
        missing = self.run_prism("show", "all_options", cwd=here)
        self.assertEqual(missing.returncode, 3)
        self.assertIn("no plugin 'all_options'", missing.stderr)

    def test_folders_that_everybody_may_write_to(self):
        root = self.copy("open")
        (root / "all_options").chmod(0o777)
        refused = [p for p in self.listed("--plugin-path", root) if p["id"] == "all_options"]
        self.assertEqual(refused[0]["status"], "broken")
        self.assertIn(f"everybody may write to {root}/all_options", refused[0]["reason"])
        taken = self.listed("--plugin-path", root, "--allow-insecure-plugin-dir")
        self.assertEqual([p["status"] for p in taken if p["id"] == "all_options"], ["ok"])

    def test_libraries_beside_a_plugin_that_everybody_may_write_to(self):
        folder = self.copy("mine", BAD / "missing_below") / "missing_below"
        manifest = folder / "plugin.toml"
        manifest.write_text(manifest.read_text().split("[[companion]]")[0])
        (folder / "libprism_middle.so").chmod(0o666)
        for command in ("show", "check"):
            done = self.run_prism(command, folder)
            self.assertEqual(done.returncode, 3)
            self.assertIn(f"everybody may write to {folder}/libprism_middle.so; whoever may do so "
                          f"runs code as you. Expected: chmod o-w {folder}/libprism_middle.so",
                          done.stdout + done.stderr)
            allowed = self.run_prism(command, folder, "--allow-insecure-plugin-dir")
            self.assertNotIn("everybody may", allowed.stdout + allowed.stderr)

    def test_a_folder_named_twice_counts_once(self):
        root = self.copy("twice")
        link = self.folder / "link"
        link.symlink_to(root)
        found = self.listed("--plugin-path", root, "--plugin-path", f"{root}/.", "--plugin-path",
                            link, PRISM_PLUGIN_PATH=f"{root}:{root}/")
        self.assertEqual([p["status"] for p in found if p["id"] == "all_options"], ["ok"])

    def test_wrong_flags(self):
        for words, message in (
                (("--plugin-path", "nowhere"), "--plugin-path: there is no folder 'nowhere'"),
                (("--plugin", "nowhere"), "there is no plugin 'nowhere': no such file or folder"),
                (("--kind", "lancher"), "there is no kind 'lancher'; did you mean 'launcher'?"),
                (("--plugin", PRISM), "there is no plugin.toml beside it")):
            done = self.run_prism("list", *words)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(message, done.stderr)

    def test_kind(self):
        found = self.listed("--kind", "router", "--plugin", GOOD)
        self.assertIn("all_options", [p["id"] for p in found])
        self.assertNotIn("local", [p["id"] for p in found])
        other = self.listed("--kind", "com.example.nothing", "--plugin-path", MISBEHAVING)
        self.assertEqual({p["id"] for p in other}, {p.name for p in MISBEHAVING.iterdir()})

    @unittest.skipUnless(shutil.which("strace"), "there is no strace")
    def test_fifty_plugins_and_no_library_is_opened(self):
        root = self.folder / "fifty"
        manifest = (GOOD / "plugin.toml").read_text()
        for i in range(50):
            shutil.copytree(GOOD, root / f"p{i}")
            (root / f"p{i}" / "plugin.toml").write_text(
                manifest.replace('id = "all_options"', f'id = "p{i}"'))
        trace = self.folder / "trace"
        done = subprocess.run(
            ["strace", "-f", "-o", trace, "-e", "trace=open,openat,execve",
             PRISM, "plugin", "list", "--json", "--plugin-path", root],
            capture_output=True, check=True, timeout=60, text=True)
        ids = [p["id"] for p in json.loads(done.stdout)["plugins"]]
        self.assertTrue({f"p{i}" for i in range(50)} <= set(ids))
        opened = trace.read_text()
        self.assertIn(f"{root}/p7/plugin.toml", opened)  # the trace sees what is opened
        self.assertNotIn("libprism_all_options.so", opened)

    def test_probe_survives_whatever_a_plugin_does(self):
        found = {p["id"]: p for p in self.listed("--probe", "--plugin-path", MISBEHAVING)}
        ended = ("plugin '{0}' (libprism_{0}.so 0.1.0): {1}() did not come back in the process that "
                 "tries it: {2}")
        for name, function, ending in (
                ("aborts", "init", "signal 6"), ("hangs", "init", "no answer within 10000 ms"),
                ("exits", "init", "it called exit"), ("allocates", "init", "signal 6"),
                ("fills_the_disk", "init", "signal 25 (File size limit exceeded)"),
                ("crashes_at_end", "deinit", "signal 11"),
                ("hangs_at_end", "deinit", "no answer within 10000 ms")):
            self.assertEqual(found[name]["status"], "broken", name)
            self.assertIn(ended.format(name, function, ending), found[name]["reason"])
        for name in ("prints", "forks", "leaves_a_daemon"):
            self.assertEqual(found[name]["status"], "ok", name)
        self.assertEqual(self.processes_with("leaves_a_daemon"), [])
        # Without --probe their manifests are all that is looked at.
        self.assertEqual({p["status"] for p in self.listed("--plugin-path", MISBEHAVING)
                          if p["path"].startswith(str(MISBEHAVING))}, {"ok"})


class Show(Commands):
    def test_text(self):
        done = self.run_prism("show", f"{GOOD}/")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")
        text = done.stdout
        self.assertTrue(text.startswith("all_options 0.2.0\n"), text)
        for line in ("  status      ok", "  interfaces  prism.router/1",
                     "  requires    weather >= 20 C",
                     "  on     bool, default true",
                     "  level  int, default 3, 0 to 9", "         How much.",
                     "  share  float, default 0.5, 0.0 to 1.0",
                     '  mode   string, required, "fast" or "exact"',
                     '  delay  duration, default "25 us", "1 us" to "1 ms"',
                     '  room   bytes, default "16 MiB", "0 B" to "1 GiB"',
                     "  table  path"):
            self.assertIn(line + "\n", text)

    def test_the_example_is_what_an_experiment_takes(self):
        options = json.loads(self.run_prism("show", f"{GOOD}/", "--json").stdout)
        example = options["examples"][0]
        self.assertIn('[plugins]\nrouter = "all_options"\n', example)
        self.assertIn('[plugins.options.all_options]\non = true\nlevel = 3\n', example)
        self.assertIn('mode = "fast"\n', example)
        self.assertIn('# table = "file"\n', example)

    def test_json(self):
        shown = json.loads(self.run_prism("show", f"{GOOD}/", "--json").stdout)
        self.assertEqual((shown["id"], shown["version"], shown["status"]),
                         ("all_options", "0.2.0", "ok"))
        self.assertEqual(shown["requires"], {"weather": ">= 20 C"})
        rows = {row["name"]: row for row in shown["options"]["prism.router/1"]}
        self.assertEqual(rows["mode"]["choices"], ["fast", "exact"])
        self.assertTrue(rows["mode"]["required"])
        self.assertEqual(rows["level"]["range"], "0 to 9")

    def test_a_forked_copy_does_not_answer_too(self):
        shown = json.loads(self.run_prism("show", MISBEHAVING / "forks", "--json").stdout)
        self.assertEqual((shown["id"], shown["status"]), ("forks", "ok"))

    def test_a_daemon_is_ended(self):
        done = self.run_prism("show", MISBEHAVING / "leaves_a_daemon")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(self.processes_with("leaves_a_daemon"), [])

    def test_ended_by_a_signal_it_leaves_nothing(self):
        for sent in (signal.SIGTERM, signal.SIGINT):
            show = subprocess.Popen([PRISM, "plugin", "show", MISBEHAVING / "hangs"],
                                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            deadline = time.monotonic() + 20
            while not self.processes_with("hangs") and time.monotonic() < deadline:
                time.sleep(0.02)
            show.send_signal(sent)
            self.assertEqual(show.wait(timeout=20), -sent)
            self.assertEqual(self.processes_with("hangs"), [])

    def test_one_that_cannot_be_loaded_shows_its_manifest(self):
        done = self.run_prism("show", MISBEHAVING / "aborts")
        self.assertEqual(done.returncode, 3)
        self.assertIn("  status      broken: plugin 'aborts' (libprism_aborts.so 0.1.0): init() "
                      "did not come back in the process that tries it: signal 6", done.stdout)
        self.assertIn("  interfaces  com.example.nothing/1", done.stdout)

    def test_unknown_id_says_where_was_searched_and_what_was_rejected(self):
        broken = self.copy("mine")
        (broken / "all_options" / "libprism_all_options.so").unlink()
        done = self.run_prism("show", "locl", "--plugin-path", broken)
        self.assertEqual(done.returncode, 3)
        self.assertIn("no plugin 'locl'; did you mean 'local'?", done.stderr)
        self.assertIn(f"searched: {broken}\n", done.stderr)
        self.assertIn(f"searched: {self.home}/.local/share/prism/plugins/abi-1 (No such file or directory)",
                      done.stderr)
        self.assertIn(f"rejected: {broken}/all_options: its file libprism_all_options.so is "
                      "missing", done.stderr)


EXPERIMENT = """
[experiment]
name = "test"
run_dir = "run"
[job]
script = "train.py"
[parallel]
world_size = 1
[plugins]
{kind} = "{id}"
"""


class Run(Commands):
    """A plugin that cannot be loaded ends `prism run` before any rank starts."""

    def refused(self, kind, plugin, *flags, root=BAD, **environment):
        (self.folder / "train.py").write_text("raise SystemExit('a rank was started')")
        experiment = self.folder / "experiment.toml"
        experiment.write_text(EXPERIMENT.format(kind=kind, id=plugin))
        done = subprocess.run(
            [PRISM, "run", experiment, "--plugin-path", root, *flags], check=False, text=True,
            capture_output=True, timeout=60, env={**os.environ, **environment})
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertFalse((self.folder / "run" / "ranks").exists())
        return done.stderr

    def refused_as(self, kind, plugin, root=BAD):
        """The same of a plugin whose manifest says that it is of this kind: so it comes to be loaded."""
        root_of_kind = self.folder / f"as_{kind}"
        folder = root_of_kind / plugin
        shutil.copytree(root / plugin, folder)
        manifest = folder / "plugin.toml"
        text = manifest.read_text().replace("com.example.nothing/1", f"prism.{kind}/1")
        manifest.write_text(text.replace("drafts = []", f'drafts = ["{kind}"]'))
        return self.refused(kind, plugin, root=root_of_kind)

    def test_late_symbol(self):
        for kind in ("runtime", "launcher"):
            self.assertIn(
                "plugin 'late_symbol' (libprism_late_symbol.so 0.1.0) cannot be loaded: "
                "libprism_late_symbol.so needs the symbol 'planner::plan_tokens(long)', which "
                "neither it nor any library that it is linked to defines",
                self.refused_as(kind, "late_symbol"))

    def test_lost_dependency_is_named_with_who_needs_it(self):
        self.assertIn("libprism_missing_dependency.so needs the library libprism_lost_planner.so, "
                      "which was not found", self.refused_as("runtime", "missing_dependency"))
        self.assertIn("libprism_middle.so needs the library libprism_lost_planner.so",
                      self.refused_as("runtime", "missing_below"))

    def test_a_plugin_that_ends_its_process(self):
        for name, function, ending in (("aborts", "init", "signal 6"),
                                       ("exits", "init", "it called exit"),
                                       ("crashes_at_end", "deinit", "signal 11"),
                                       ("hangs_at_end", "deinit", "no answer within 20000 ms")):
            message = self.refused_as("launcher", name, root=MISBEHAVING)
            self.assertIn("trying the plugins of this experiment in a process of their own",
                          message)
            self.assertIn(f"plugin '{name}' (libprism_{name}.so 0.1.0): {function}() did not come "
                          f"back in the process that tries it: {ending}", message)

    def test_every_folder_that_was_searched(self):
        variable = self.copy("variable")
        message = self.refused("launcher", "locall", root=self.copy("flag"),
                               PRISM_PLUGIN_PATH=f"here:{variable}")
        self.assertIn("no plugin 'locall'; did you mean 'local'?", message)
        flag = message.index(f"searched: {self.folder}/flag\n")
        self.assertLess(flag, message.index(f"searched: {variable}\n"))
        self.assertIn("PRISM_PLUGIN_PATH: the entry 'here' is not searched", message)

    def test_folder_that_everybody_may_write_to(self):
        root = self.copy("open")
        root.chmod(0o777)
        self.assertIn(f"plugin 'all_options' in {root}/all_options cannot be used: everybody may "
                      f"write to {root};", self.refused("runtime", "all_options", root=root))


class New(Commands):
    def test_bad_names_write_nothing(self):
        for name, message in (
                ("my router", "use a-z, 0-9, '-' and '_'"), ("../router", "use a-z, 0-9"),
                ("..", "use a-z, 0-9"), ("müller", "use a-z, 0-9"), ("路由器", "use a-z, 0-9"),
                ("Router", "use a-z, 0-9"), ("9lives", "use a-z, 0-9"), ("a/b", "use a-z, 0-9"),
                ("my-", "use a-z, 0-9"), ("a;b", "use a-z, 0-9"), ("a\nb", "use a-z, 0-9"),
                ("a--b", "follow each other"), ("x", "2 to 32 characters, this one 1"),
                ("", "2 to 32 characters, this one 0"),
                ("r" * 300, "2 to 32 characters, this one 300"),
                ("zipf", "is taken"), ("tensor-source", "is taken"), ("test", "is taken")):
            done = self.run_prism("new", "router", name)
            self.assertEqual(done.returncode, 2, name)
            self.assertIn(message, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            self.assertEqual(list(self.folder.iterdir()), [self.home], name)

    def test_bad_flags_write_nothing(self):
        for words, message in (
                (("roter", "mine"), "there is no template for the kind 'roter'; did you mean "
                                    "'router'?"),
                (("common", "mine"), "there is no template for the kind 'common'"),
                (("../router", "mine"), "there is no template for the kind '../router'"),
                (("router", "mine", "--lang", "rust"),
                 "there is no template for router plugins in the language 'rust'"),
                (("router", "mine", "--license", "a\"b"), "--license takes an SPDX expression"),
                (("router", "mine", "--dir", ""), "--dir")):
            done = self.run_prism("new", *words)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(message, done.stderr)
            self.assertEqual(list(self.folder.iterdir()), [self.home], words)

    def test_a_folder_that_is_not_empty_stays_as_it_is(self):
        (self.folder / "mine").mkdir()
        (self.folder / "mine" / "thesis.txt").write_text("years of work")
        done = self.run_prism("new", "router", "mine")
        self.assertEqual(done.returncode, 2)
        self.assertIn("'mine' is there already and not empty", done.stderr)
        self.assertEqual([p.name for p in (self.folder / "mine").iterdir()], ["thesis.txt"])
        (self.folder / "file").write_text("years of work")
        done = self.run_prism("new", "router", "mine", "--dir", "file")
        self.assertEqual(done.returncode, 2)
        self.assertEqual((self.folder / "file").read_text(), "years of work")

    def test_every_template(self):
        templates = {"router": ("cpp", "c"), "tensor_source": ("cpp", "c"), "format": ("cpp",)}
        for kind, languages in templates.items():
            for language in languages:
                where = self.folder / f"{kind}-{language}"
                where.mkdir()  # an empty folder will do
                done = self.run_prism("new", kind, "my-first", "--lang", language, "--dir", where,
                                      "--license", "MIT OR Apache-2.0")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn(f"The {kind} plugin 'my_first' is in {where}.", done.stdout)
                files = {str(p.relative_to(where)): p.read_text()
                         for p in where.rglob("*") if p.is_file()}
                self.assertEqual(
                    set(files),
                    {"CMakeLists.txt", "CMakePresets.json", "README.md", ".clang-format",
                     ".gitignore", "LICENSE", "CHANGELOG.md", f"src/my_first.{language}",
                     f"tests/my_first_test.{language}"})
                for name, text in files.items():
                    for left in ("template_", "template-", "TemplateClass", "TODO"):
                        self.assertNotIn(left, text, name)
                self.assertIn("SPDX-License-Identifier: MIT OR Apache-2.0",
                              files[f"src/my_first.{language}"])
                self.assertIn('LICENSE "MIT OR Apache-2.0"', files["CMakeLists.txt"])
                self.assertIn("MIT OR Apache-2.0", files["LICENSE"])

    def test_what_it_prints_can_be_put_into_a_shell(self):
        where = self.folder / "it's a; folder"
        done = self.run_prism("new", "router", "mine", "--dir", where)
        line = next(line for line in done.stdout.splitlines() if line.startswith("  cd "))
        self.assertEqual(shlex.split(line), ["cd", str(where)])

    def test_help_and_hidden_commands(self):
        done = self.run_prism("--help")
        self.assertEqual(done.returncode, 0)
        self.assertIn("prism plugin new KIND NAME", done.stdout)
        self.assertNotIn("__", done.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
