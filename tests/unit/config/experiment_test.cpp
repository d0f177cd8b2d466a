// SPDX-License-Identifier: Apache-2.0
#include "core/config/experiment.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/unit/config/temporary_files.hpp"

namespace prism::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

class ExperimentTest : public TemporaryFiles {
 protected:
  Experiment good(const std::string& text, const std::vector<Override>& overrides = {}) {
    auto loaded = load_experiment(write("exp.toml", text), overrides);
    EXPECT_EQ(loaded.diagnostics.text(), "");
    EXPECT_TRUE(loaded.experiment.has_value());
    return loaded.experiment ? std::move(*loaded.experiment) : Experiment{};
  }
  Diagnostics bad(const std::string& text, const std::vector<Override>& overrides = {}) {
    auto loaded = load_experiment(write("exp.toml", text), overrides);
    EXPECT_FALSE(loaded.experiment.has_value());
    EXPECT_FALSE(loaded.diagnostics.empty());
    return std::move(loaded.diagnostics);
  }
};

TEST_F(ExperimentTest, DefaultsOfASmallestFile) {
  Experiment e = good(kHead + "[parallel]\nworld_size = 1\n");
  EXPECT_EQ(e.name, "x");
  EXPECT_EQ(e.run_dir, path("runs/x"));
  EXPECT_EQ(e.seed, 1u);
  EXPECT_EQ(e.job.script, path("train.py"));
  EXPECT_TRUE(e.job.args.empty());
  EXPECT_EQ(e.job.cwd, folder_.string());
  EXPECT_EQ(e.parallel.world_size, 1u);
  EXPECT_THAT(e.parallel.classes, ElementsAre(ElementsAre(0)));
  EXPECT_EQ(e.parallel.check_replicas, 1u);
  EXPECT_EQ(e.plugins.runtime, "torch");
  EXPECT_EQ(e.plugins.launcher, "local");
  EXPECT_EQ(e.plugins.adapter, std::nullopt);
  EXPECT_EQ(e.collect.slots, 0u);
  EXPECT_EQ(e.collect.timeout, 600'000'000'000);
  EXPECT_EQ(e.default_link, std::nullopt);
  EXPECT_EQ(choose_link(e, "gloo", ""), nullptr);
  EXPECT_EQ(e.time.repeats, 2u);
  EXPECT_EQ(e.time.warmup_iterations, 3u);
  EXPECT_EQ(e.predict.compute_scale, 1.0);
  EXPECT_TRUE(e.verify.empty());
  EXPECT_EQ(e.report.timeline_ranks, 16u);
}

TEST_F(ExperimentTest, EveryTable) {
  write("data/d.bin", "");
  Experiment e = good(R"(
[experiment]
name = "fsdp2-64"
run_dir = "../out"
seed = 7
[job]
script = "train.py"
args = ["--world", "{world_size}"]
env = { B = "2", A = "1" }
inputs = ["data/d.bin"]
cwd = "data"
[parallel]
world_size = 64
sandbox = [5, 0]
classes = "rank // 8"
check_replicas = 0
[plugins]
adapter = "fsdp"
path = { fsdp = "data" }
[collect]
slots = 0x10
timeout = "30 s"
[link.nvlink]
latency = "1 us"
bandwidth = "450 GB/s"
match = { backend = "nccl", description = "tp" }
[link.ib]
latency = "5 us"
bandwidth = "400 Gbit/s"
match = { backend = "nccl" }
[link.default]
latency = "25 us"
bandwidth = "12.5 GB/s"
per_message = "2 us"
reduce_bandwidth = "10 GB/s"
[time]
repeats = 5
[predict]
compute_scale = 0.5
[verify.4]
[verify.2]
args = ["--world", "2"]
env = { A = "3" }
[report]
timeline_ranks = 0
)");
  EXPECT_EQ(e.run_dir, (folder_.parent_path() / "out").string());
  EXPECT_THAT(e.job.env, ElementsAre(Pair("B", "2"), Pair("A", "1")));
  EXPECT_THAT(e.job.inputs, ElementsAre(path("data/d.bin")));
  EXPECT_EQ(e.job.cwd, path("data"));
  EXPECT_THAT(e.parallel.sandbox, ElementsAre(5, 0));
  ASSERT_EQ(e.parallel.classes.size(), 8u);
  EXPECT_EQ(e.parallel.classes[7].front(), 56u);
  EXPECT_EQ(e.plugins.adapter, "fsdp");
  EXPECT_THAT(e.plugins.paths, ElementsAre(Pair("fsdp", path("data"))));
  EXPECT_EQ(e.collect.slots, 16u);
  EXPECT_EQ(e.collect.timeout, 30'000'000'000);
  ASSERT_EQ(e.links.size(), 2u);
  EXPECT_EQ(e.links[0].name, "nvlink");
  EXPECT_EQ(e.default_link->per_message, 2'000);
  EXPECT_EQ(e.default_link->reduce_bandwidth, 10'000'000'000);
  EXPECT_EQ(e.predict.compute_scale, 0.5);
  ASSERT_EQ(e.verify.size(), 2u);
  EXPECT_EQ(e.verify.at(4).args, std::nullopt);
  EXPECT_THAT(*e.verify.at(2).args, ElementsAre("--world", "2"));
  EXPECT_EQ(e.report.timeline_ranks, 0u);

  EXPECT_EQ(choose_link(e, "nccl", "tp")->name, "nvlink");
  EXPECT_EQ(choose_link(e, "nccl", "dp")->bandwidth, 50'000'000'000);
  EXPECT_EQ(choose_link(e, "gloo", "tp")->name, "default");
}

TEST_F(ExperimentTest, TheFirstMatchingLinkOfTheFileWinsNotOfTheAlphabet) {
  Experiment e =
      good(kHead + "[parallel]\nworld_size = 2\n" + kLink +
           "[link.z]\nlatency = \"1 us\"\nbandwidth = \"1 GB/s\"\nmatch.backend = \"gloo\"\n"
           "[link.a]\nlatency = \"2 us\"\nbandwidth = \"1 GB/s\"\nmatch.backend = \"gloo\"\n");
  EXPECT_EQ(choose_link(e, "gloo", "")->name, "z");
}

TEST_F(ExperimentTest, SevenWrongNumbersAreSevenErrorsInOneRun) {
  Diagnostics d =
      bad(kHead +
          "[parallel]\nworld_size = 4294967298\ncheck_replicas = 1e3\n"
          "sandbox = [0, 1, \"2\", 3.0]\n[time]\nwarmup_iterations = -1\nrepeats = 0\n"
          "[collect]\ntimeout = inf\nslots = 0x10\n[link.default]\nlatency = \"25 us\"\n"
          "bandwidth = \"0.1 GiBi/s\"\n");
  EXPECT_EQ(d.total(), 7u);
  EXPECT_EQ(d.status().exit_code(), 2);
  EXPECT_THAT(d.text(), testing::Not(HasSubstr("slots")));
}

TEST_F(ExperimentTest, CrossChecksNameBothPlaces) {
  Diagnostics d = bad(kHead + "[parallel]\nworld_size = 4\nsandbox = [4]\n" + kLink);
  ASSERT_EQ(d.total(), 1u);
  EXPECT_EQ(d.shown()[0].code, ErrorCode::Rank);
  EXPECT_EQ(d.shown()[0].span.begin.line, 7u);
  ASSERT_EQ(d.shown()[0].notes.size(), 1u);
  EXPECT_EQ(d.shown()[0].notes[0].span.begin.line, 6u);
}

TEST_F(ExperimentTest, CommandLineValuesWinAndAreNamed) {
  std::string text = kHead + "[parallel]\nworld_size = 2\n" + kLink;
  Experiment e = good(text, {{"collect.slots", "3"},
                             {"collect.timeout", "5 s"},
                             {"experiment.name", "\"other\""},
                             {"link.default.latency", "1 ms"}});
  EXPECT_EQ(e.collect.slots, 3u);
  EXPECT_EQ(e.collect.timeout, 5'000'000'000);
  EXPECT_EQ(e.name, "other");
  EXPECT_EQ(e.default_link->latency, 1'000'000);
  EXPECT_THAT(render_effective(e), HasSubstr("slots = 3  # command line\n"));

  EXPECT_EQ(bad(text, {{"collect.slots", "-3"}}).text(),
            "command line: error: 'slots' in [collect] must be between 0 and 65536, not -3\n");
  EXPECT_EQ(bad(text, {{"collect.slot", "3"}}).text(),
            "command line: error: unknown key 'slot' in [collect]; did you mean 'slots'?\n");
  for (const char* key : {"", "slots", ".slots", "collect.", "experiment.name.x"}) {
    EXPECT_EQ(bad(text, {{key, "3"}}).shown()[0].code, ErrorCode::Override) << key;
  }
  EXPECT_EQ(bad(text, {{"experiment.name", "\xff"}}).shown()[0].code, ErrorCode::Override);
}

TEST_F(ExperimentTest, EffectiveValuesHaveTheirOrigin) {
  Experiment e = good(kHead + "[parallel]\nworld_size = 1\n[collect]\ntimeout = \"90 s\"\n");
  std::string text = render_effective(e);
  EXPECT_THAT(text, HasSubstr("[experiment]\nname = \"x\"  # " + path("exp.toml") + ":2\n"));
  EXPECT_THAT(text, HasSubstr("run_dir = \"" + path("runs/x") + "\"  # default\n"));
  EXPECT_THAT(text, HasSubstr("timeout = \"90 s\"  # " + path("exp.toml") + ":8\n"));
  EXPECT_THAT(text, HasSubstr("repeats = 2  # default\n"));
}

TEST_F(ExperimentTest, TheEffectiveExperimentLoadsFromAnyFolderToTheSame) {
  write("data/x", "");
  Experiment e = good(kHead + R"(
args = ["{rank}", "a\"b\\c\n"]
env = { "A B" = "é" }
cwd = "data"
[parallel]
world_size = 16
classes = ["0-7", "8-15"]
sandbox = [1]
[plugins.path]
"com.acme.x" = "data"
[plugins.options."com.acme.x"]
"odd key" = [1, { a = 1e300 }]
[link.default]
latency = "1.25 us"
bandwidth = "3 B/s"
["link"."odd name"]
latency = "1 ns"
bandwidth = "1 B/s"
match.description = "it's \"x\""
[predict]
compute_scale = 0.1
[verify.8]
args = []
)");
  auto again = load_experiment(write("elsewhere/deep/lock.toml", render_effective(e)));
  ASSERT_TRUE(again.experiment) << again.diagnostics.text();
  ASSERT_EQ(again.experiment->effective.size(), e.effective.size());
  for (size_t i = 0; i < e.effective.size(); ++i) {
    EXPECT_EQ(again.experiment->effective[i].table, e.effective[i].table);
    EXPECT_EQ(again.experiment->effective[i].key, e.effective[i].key);
    EXPECT_EQ(again.experiment->effective[i].toml, e.effective[i].toml);
  }
}

TEST_F(ExperimentTest, FilesThatCannotBeRead) {
  auto code = [](const std::string& path) {
    Diagnostics d = check_file(path);
    EXPECT_EQ(d.total(), 1u);
    EXPECT_EQ(d.status().exit_code(), 2);
    return d.shown().at(0).code;
  };
  EXPECT_EQ(code(path("absent.toml")), ErrorCode::File);
  EXPECT_EQ(code(folder_.string()), ErrorCode::File);
  EXPECT_EQ(code("/dev/zero"), ErrorCode::File);
  EXPECT_EQ(code(""), ErrorCode::File);
  EXPECT_EQ(code(write("empty.toml", "")), ErrorCode::Empty);
  EXPECT_EQ(code(write("big.toml", std::string(kMaxFileBytes + 1, '#'))), ErrorCode::TooLarge);
  EXPECT_EQ(code(write("latin1.toml", "name = \"caf\xe9\"")), ErrorCode::Encoding);
  EXPECT_EQ(code(write("syntax.toml", "name = ")), ErrorCode::Syntax);
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(code(path("pipe")), ErrorCode::File);
}

TEST(Placeholders, OnlyNamesInBracesAreReplaced) {
  EXPECT_EQ(substitute_placeholders("--rank={rank}/{world_size}", 64, 7), "--rank=7/64");
  EXPECT_EQ(substitute_placeholders("{{rank}} {rank}", 64, 7), "{rank} 7");
  EXPECT_EQ(substitute_placeholders("{\"a\": {\"b\": 1}} {} { rank } {1}", 64, 7),
            "{\"a\": {\"b\": 1}} {} { rank } {1}");
  EXPECT_EQ(substitute_placeholders("{{{rank}", 64, 7), "{{7");
  EXPECT_EQ(substitute_placeholders("{rank", 64, 7), "{rank");
  EXPECT_EQ(substitute_placeholders("", 64, 7), "");
}

}  // namespace
}  // namespace prism::config
