# SPDX-License-Identifier: Apache-2.0
"""`prism config check` and the plugins that an experiment names."""

import json
import unittest

from support import RunCase, train

RULE = '[[collect.rule]]\nsource = {{ {} }}\n'


class ConfigCheck(RunCase):
    def check(self, more, *words):
        return self.prism("config", "check", *words, self.experiment(train(), more=more))

    def test_plugins_that_are_not_there_or_of_another_kind(self):
        for more, texts in (
            ('[plugins]\nrouter = "zpif"\n', ["no plugin 'zpif'; did you mean 'zipf'?", '| router = "zpif"']),
            # Only what would do is suggested.
            ('[plugins]\nrouter = "zeros"\n', ["plugin 'zeros' is no router", "choose from balanced, zipf"]),
            ('[plugins]\nruntime = "local"\n', ["plugin 'local' is no runtime"]),
            (RULE.format('id = "tokns", vocabulary = 3'), ["no plugin 'tokns'; did you mean 'tokens'?"]),
            (RULE.format('id = "tokens", vocabulary = 3') + "[plugins.options.tokens]\nvocabulary = 3\n",
             ["[plugins.options.tokens]: a tensor source has no options here", "of the [[collect.rule]]"]),
            ("[plugins.options.zipf]\nexponent = 1\n", ["this experiment uses no plugin of that id"]),
        ):
            with self.subTest(more=more):
                result = self.check(more)
                self.assert_fails(result, 2, *texts)
                self.assertRegex(result.stderr, r"experiment\.toml:\d+:\d+: error: ")

    def test_in_json(self):
        result = self.check('[plugins]\nrouter = "zpif"\n', "--format", "json")
        [problem] = json.loads(result.stdout)["diagnostics"]
        self.assertEqual((problem["code"], problem["hint"]), ("E-CFG-PLUGIN", "did you mean 'zipf'?"))

    def test_options_need_the_plugin_loaded(self):
        router = '[plugins]\nrouter = "zipf"\n[plugins.options.zipf]\n'
        self.assert_ok(self.check(router + "exponent = 3\n", "--load"))
        for more, text in ((router + "exponent = 9\n", "'exponent' in [plugins.options.zipf] must be between"),
                           (router + "exponnt = 3\n", "unknown key 'exponnt'"),
                           (RULE.format('id = "tokens"'), "missing required key 'vocabulary'")):
            with self.subTest(more=more):
                self.assert_ok(self.check(more))
                self.assert_fails(self.check(more, "--load"), 2, text)

    def test_a_plugin_of_the_command_line(self):
        self.assert_fails(self.check("", "--plugin", "/nowhere/plugin"), 2, "there is no plugin '/nowhere/plugin'")


if __name__ == "__main__":
    unittest.main()
