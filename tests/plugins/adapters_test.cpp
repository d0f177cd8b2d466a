// SPDX-License-Identifier: Apache-2.0
// The plugin "good" through core's interfaces: values go over and come back, and failures carry the
// plugin's name, the function and the right exit code.
#include "core/plugin/adapters.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace prism::plugin {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

const char* const kName = "plugin 'good' (libprism_good.so 0.1.0): ";

prism_str_t text(std::string_view s) {
  return {s.data(), s.size()};
}

prism_option_value_t value(int32_t type) {
  prism_option_value_t v{};
  v.type = type;
  v.set = 1;
  return v;
}

/// Values for the options of good's launcher: mode, grace (unset), log.
std::vector<prism_option_value_t> values(std::string_view mode) {
  std::vector<prism_option_value_t> v = {value(PRISM_OPTION_STRING), value(PRISM_OPTION_DURATION),
                                         value(PRISM_OPTION_PATH)};
  v[0].u.text = text(mode);
  v[1].set = 0;
  v[2].u.text = text("/tmp/good.log");
  return v;
}

class Adapters : public testing::Test {
 protected:
  Registry registry_{SearchPath{{}, {PRISM_FIXTURE_ROOT}}};
};

TEST_F(Adapters, OptionTable) {
  const auto table = options(registry_, "good", "prism.launcher/1");
  ASSERT_TRUE(table.ok()) << table.status().to_string();
  ASSERT_EQ(table->count, 3U);
  EXPECT_EQ(std::string(table->rows[0].name.ptr, table->rows[0].name.len), "mode");
  EXPECT_EQ(table->rows[0].choice_count, 3U);
  EXPECT_EQ(table->rows[1].max, 1'000'000'000);
  EXPECT_EQ(table->rows[2].required, 1);
  const auto none = options(registry_, "good", "prism.runtime/1");
  ASSERT_TRUE(none.ok());
  EXPECT_EQ(none->count, 0U);
  EXPECT_FALSE(options(registry_, "good", "prism.router/1").ok());
}

TEST_F(Adapters, LauncherRoundTrip) {
  auto v = values("work");
  v[1].set = 1;
  v[1].u.integer = 250;
  auto launcher = open_launcher(registry_, "good", v);
  ASSERT_TRUE(launcher.ok()) << launcher.status().to_string();
  schedule::Launcher& l = **launcher;
  EXPECT_EQ(l.describe(), "echo, grace 250, log /tmp/good.log");
  EXPECT_EQ(l.event_fd(), 42);

  auto none = l.next_exit();
  ASSERT_TRUE(none.ok());
  EXPECT_FALSE(none->has_value());

  schedule::LaunchSpec spec;
  spec.argv = {"program", "argument"};
  spec.fds = {{5, 3}, {6, 4}};
  const auto process = l.spawn(spec);
  ASSERT_TRUE(process.ok()) << process.status().to_string();
  EXPECT_TRUE(l.signal(*process, 15).ok());
  const auto exit = l.next_exit();
  ASSERT_TRUE(exit.ok() && exit->has_value());
  EXPECT_EQ((*exit)->process, *process);
  EXPECT_EQ((*exit)->exit_code, 3 + 4);  // good's launcher adds up the target descriptors
  EXPECT_EQ((*exit)->signal, 15);
}

TEST_F(Adapters, LauncherFailures) {
  auto launcher = open_launcher(registry_, "good", values("work"));
  ASSERT_TRUE(launcher.ok()) << launcher.status().to_string();
  schedule::Launcher& l = **launcher;

  schedule::LaunchSpec spec;
  const auto empty = l.spawn(spec);
  EXPECT_EQ(empty.status().code(), Code::InvalidArgument);
  EXPECT_EQ(empty.status().to_string(), std::string(kName) + "spawn(): argv is empty");
  EXPECT_EQ(empty.status().exit_code(), 1);

  spec.argv = {"missing"};
  EXPECT_EQ(l.spawn(spec).status().code(), Code::NotFound);

  const Status gone = l.signal(99, 15);
  EXPECT_EQ(gone.code(), Code::NotFound);
  EXPECT_EQ(gone.to_string(), std::string(kName) + "signal(): process 99 has ended");

  spec.argv = {"program"};
  const auto process = l.spawn(spec);
  ASSERT_TRUE(process.ok());
  ASSERT_TRUE(l.signal(*process, 9).ok());
  const auto dead = l.next_exit();
  EXPECT_EQ(dead.status().code(), Code::Unavailable);
  EXPECT_EQ(dead.status().exit_code(), 1);
}

TEST_F(Adapters, OpenOnAMachineThatCannotIsExitCode4) {
  const auto launcher = open_launcher(registry_, "good", values("unable"));
  ASSERT_FALSE(launcher.ok());
  EXPECT_EQ(launcher.status().to_string(),
            std::string(kName) + "open(): this machine has no namespaces");
  EXPECT_EQ(launcher.status().exit_code(), 4);
}

TEST_F(Adapters, OtherFailureOfOpenIsThePlugins) {
  const auto launcher = open_launcher(registry_, "good", values("broken"));
  ASSERT_FALSE(launcher.ok());
  EXPECT_EQ(launcher.status().to_string(), std::string(kName) + "open(): something else");
  EXPECT_EQ(launcher.status().code(), Code::Internal);
  EXPECT_EQ(launcher.status().exit_code(), 3);
}

TEST_F(Adapters, ValuesThatDoNotFitTheTable) {
  auto v = values("work");
  v.pop_back();
  EXPECT_THAT(open_launcher(registry_, "good", v).status().to_string(),
              HasSubstr("2 option values for 3 options"));
  v = values("work");
  v[0].type = PRISM_OPTION_INT;
  EXPECT_THAT(open_launcher(registry_, "good", v).status().to_string(),
              HasSubstr("wrong type for option 'mode'"));
  v = values("work");
  v[2].set = 0;
  EXPECT_THAT(open_launcher(registry_, "good", v).status().to_string(),
              HasSubstr("option 'log' has no value"));
}

TEST_F(Adapters, RuntimeRoundTrip) {
  auto runtime = open_runtime(registry_, "good", {});
  ASSERT_TRUE(runtime.ok()) << runtime.status().to_string();
  schedule::Runtime& r = **runtime;
  const auto versions = r.probe({"HOME=/home"});
  ASSERT_TRUE(versions.ok());
  EXPECT_EQ(*versions, "env=HOME=/home\n");
  EXPECT_EQ(r.stack_signal(), 10);

  schedule::RankSpec spec;
  spec.rank = 3;
  spec.world_size = 8;
  spec.agent_fd = 5;
  spec.seed = uint64_t{1} << 63;
  spec.script = "/train.py";
  spec.args = {"--hidden", ""};
  spec.env = {"A=b"};
  const auto command = r.command(spec);
  ASSERT_TRUE(command.ok()) << command.status().to_string();
  EXPECT_THAT(command->argv, ElementsAre("run", "/train.py", "--hidden", ""));
  EXPECT_THAT(command->env, ElementsAre("A=b", "RANK=3", "FD=5", "SEED=9223372036854775808"));

  spec.rank = 8;
  const auto bad = r.command(spec);
  EXPECT_EQ(bad.status().to_string(), std::string(kName) + "command(): rank out of range");
  EXPECT_EQ(bad.status().exit_code(), 1);
}

TEST_F(Adapters, CommandsForTheRealRunAndTheLink) {
  auto runtime = open_runtime(registry_, "good", {});
  ASSERT_TRUE(runtime.ok()) << runtime.status().to_string();
  schedule::ReferenceSpec spec;
  spec.world_size = 2;
  spec.cores = {0, 1};
  spec.marks_folder = "/marks";
  spec.env = {"BYTES=\xff\x01"};  // no UTF-8, as environments may be
  const auto reference = (*runtime)->reference_command(spec);
  ASSERT_TRUE(reference.ok()) << reference.status().to_string();
  EXPECT_THAT(reference->argv, ElementsAre("torchrun", "2", "/marks"));
  EXPECT_THAT(reference->env, ElementsAre("BYTES=\xff\x01"));
  const auto link = (*runtime)->measure_link_command(3, 4, {"A=b"});
  ASSERT_TRUE(link.ok()) << link.status().to_string();
  EXPECT_THAT(link->argv, ElementsAre("measure", "3", "4"));
  EXPECT_THAT(link->env, ElementsAre("A=b"));
}

TEST_F(Adapters, ProbeOfWhatIsMissingIsExitCode4) {
  auto runtime = open_runtime(registry_, "good", {});
  ASSERT_TRUE(runtime.ok());
  const auto versions = (*runtime)->probe({});
  EXPECT_THAT(versions.status().to_string(), StartsWith(std::string(kName) + "probe(): torch"));
  EXPECT_EQ(versions.status().exit_code(), 4);
}

TEST_F(Adapters, PluginOfAnotherKind) {
  const auto launcher = open_launcher(registry_, "good_c", {});
  ASSERT_FALSE(launcher.ok());
  EXPECT_EQ(launcher.status().exit_code(), 3);
  EXPECT_EQ(launcher.status().to_string(),
            "plugin 'good_c' (libprism_good_c.so 0.1.0) has no prism.launcher/1; plugins that have "
            "it: good, half_interface, null_interface");
}

}  // namespace
}  // namespace prism::plugin
