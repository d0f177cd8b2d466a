// SPDX-License-Identifier: Apache-2.0
#include "core/config/plugin_options.hpp"

#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/config/temporary_files.hpp"

namespace prism::config {
namespace {

using testing::HasSubstr;

prism_str_t str(const char* text) {
  return {text, std::strlen(text)};
}

prism_option_t row(const char* name, int32_t type, const char* default_text = "") {
  prism_option_t out{};
  out.name = str(name);
  out.type = type;
  out.default_text = str(default_text);
  out.min = INT64_MIN;
  out.max = INT64_MAX;
  out.doc = str("A sentence.");
  return out;
}

std::string_view text(const prism_option_value_t& value) {
  return {value.u.text.ptr, value.u.text.len};
}

class PluginOptionsTest : public TemporaryFiles {
 protected:
  PluginOptionsTest() {
    choices_[0] = str("even");
    choices_[1] = str("skewed");
    rows_ = {row("verbose", PRISM_OPTION_BOOL, "false"),
             row("experts", PRISM_OPTION_INT),
             row("skew", PRISM_OPTION_FLOAT, "1.5"),
             row("kind", PRISM_OPTION_STRING, "\"even\""),
             row("pause", PRISM_OPTION_DURATION, "\"25 us\""),
             row("pool", PRISM_OPTION_BYTES),
             row("table", PRISM_OPTION_PATH)};
    rows_[1].required = 1;
    rows_[1].min = 1;
    rows_[1].max = 4096;
    rows_[3].choices = choices_;
    rows_[3].choice_count = 2;
  }

  Experiment load(const std::string& options) {
    auto loaded =
        load_experiment(write("sub/exp.toml",
                              "[experiment]\nname = \"x\"\n[job]\nscript = \"../train.py\"\n"
                              "[parallel]\nworld_size = 1\n" +
                                  options));
    EXPECT_TRUE(loaded.experiment) << loaded.diagnostics.text();
    return std::move(*loaded.experiment);
  }
  Result<PluginOptions> validate(const Experiment& experiment, prism_option_table_t table) {
    diagnostics_.emplace(experiment.document->source);
    return validate_plugin_options(experiment, "zipf", table, *diagnostics_);
  }
  prism_option_table_t table() const {
    return {rows_.data(), rows_.size(), sizeof(prism_option_t)};
  }

  prism_str_t choices_[2];
  std::vector<prism_option_t> rows_;
  std::optional<Diagnostics> diagnostics_;
};

TEST_F(PluginOptionsTest, ValuesComeInTableOrder) {
  Experiment experiment = load(
      "[plugins.options.zipf]\ntable = \"t.json\"\npool = \"16 MiB\"\nexperts = 64\n"
      "verbose = true\nkind = \"skewed\"\n");
  auto options = validate(experiment, table());
  ASSERT_TRUE(options.ok()) << options.status().to_string();
  PluginOptions moved = std::move(options).value();
  const auto& abi = moved.abi();
  ASSERT_EQ(abi.size(), 7u);
  for (size_t i = 0; i < abi.size(); ++i) {
    EXPECT_EQ(abi[i].type, rows_[i].type);
    EXPECT_EQ(abi[i].set, 1);
  }
  EXPECT_EQ(abi[0].u.boolean, 1);
  EXPECT_EQ(abi[1].u.integer, 64);
  EXPECT_EQ(abi[2].u.real, 1.5);
  EXPECT_EQ(text(abi[3]), "skewed");
  EXPECT_EQ(abi[4].u.integer, 25'000);
  EXPECT_EQ(abi[5].u.integer, 16 << 20);
  EXPECT_EQ(text(abi[6]), path("sub/t.json"));
}

TEST_F(PluginOptionsTest, WhatIsNotGivenIsNotSet) {
  rows_[1].required = 0;
  auto options = validate(load(""), table());
  ASSERT_TRUE(options.ok()) << options.status().to_string();
  EXPECT_EQ(options->abi()[1].set, 0);
  EXPECT_EQ(options->abi()[2].set, 1);
  EXPECT_EQ(options->abi()[6].set, 0);
}

TEST_F(PluginOptionsTest, MistakesOfTheUserAreConfigurationErrors) {
  auto options = validate(load("[plugins.options.zipf]\nexperts = 5000\nskwe = 2.0\n"
                               "kind = \"evn\"\npause = 5\n"),
                          table());
  ASSERT_FALSE(options.ok());
  EXPECT_EQ(options.status().exit_code(), 2);
  ASSERT_EQ(diagnostics_->total(), 4u);
  EXPECT_EQ(diagnostics_->shown()[0].message,
            "'experts' in [plugins.options.zipf] must be between 1 and 4096, not 5000");
  EXPECT_EQ(diagnostics_->shown()[0].span.begin.line, 8u);
  EXPECT_EQ(diagnostics_->shown()[1].hint, "did you mean 'skew'?");
  EXPECT_EQ(diagnostics_->shown()[2].hint, "did you mean 'even'?");
  EXPECT_EQ(diagnostics_->shown()[3].code, ErrorCode::Type);
}

TEST_F(PluginOptionsTest, ARequiredOptionIsMissingAlsoWithoutItsTable) {
  auto options = validate(load(""), table());
  ASSERT_FALSE(options.ok());
  EXPECT_THAT(
      std::string(options.status().message()),
      HasSubstr("exp.toml: error: missing required key 'experts' in [plugins.options.zipf]"));
}

TEST_F(PluginOptionsTest, LargerRowsOfANewerPluginAreRead) {
  struct LargerRow {
    prism_option_t known;
    uint64_t later;
  };
  LargerRow larger[2] = {{row("a", PRISM_OPTION_INT, "1"), ~0ull},
                         {row("b", PRISM_OPTION_INT, "2"), ~0ull}};
  auto options = validate(load(""), {&larger[0].known, 2, sizeof(LargerRow)});
  ASSERT_TRUE(options.ok()) << options.status().to_string();
  EXPECT_EQ(options->abi()[1].u.integer, 2);
}

TEST_F(PluginOptionsTest, ABadTableIsThePluginsFault) {
  Experiment experiment = load("");
  auto refused = [&](prism_option_table_t bad) {
    auto options = validate(experiment, bad);
    EXPECT_FALSE(options.ok());
    EXPECT_EQ(options.status().exit_code(), 3);
    return std::string(options.status().message());
  };
  EXPECT_THAT(refused({nullptr, 3, sizeof(prism_option_t)}), HasSubstr("plugin 'zipf'"));
  EXPECT_NE(refused({rows_.data(), ~0ull, sizeof(prism_option_t)}), "");
  EXPECT_NE(refused({rows_.data(), 2, 8}), "");
  rows_[0].type = 99;
  EXPECT_THAT(refused(table()), HasSubstr("row 0 ('verbose') has the unknown type 99"));
  rows_[0].type = PRISM_OPTION_BOOL;
  rows_[4].default_text = str("25");
  EXPECT_THAT(refused(table()), HasSubstr("the default of 'pause'"));
  rows_[4].default_text = str("\"25 us\"");
  rows_[2].name = {nullptr, 0};
  EXPECT_THAT(refused(table()), HasSubstr("row 2 has no name"));
}

TEST_F(PluginOptionsTest, AnEmptyTableTakesNothing) {
  EXPECT_TRUE(validate(load(""), {nullptr, 0, 0}).ok());
  auto options = validate(load("[plugins.options.zipf]\nx = 1\n"), {nullptr, 0, 0});
  ASSERT_FALSE(options.ok());
  EXPECT_EQ(diagnostics_->shown()[0].code, ErrorCode::UnknownKey);
}

TEST_F(PluginOptionsTest, IdsAreListed) {
  Experiment experiment = load("[plugins.options.zipf]\n[plugins.options.\"com.acme.x\"]\na = 1\n");
  EXPECT_THAT(plugin_option_ids(experiment), testing::ElementsAre("zipf", "com.acme.x"));
  EXPECT_TRUE(plugin_option_ids(load("")).empty());
}

}  // namespace
}  // namespace prism::config
