// SPDX-License-Identifier: Apache-2.0
#include "prism/host/threads.hpp"

#include <gtest/gtest.h>
#include <thread>

namespace prism::host {
namespace {

constexpr bool kEnabled = true;

TEST(ThreadRules, CallsOneAfterAnotherFromDifferentThreadsAreFine) {
  ThreadRules rules("plugin 'zipf'", kEnabled);
  { const auto call = rules.enter(ThreadTag::Control, "open"); }
  std::thread([&] { const auto call = rules.enter(ThreadTag::Worker, "counts"); }).join();
  std::thread([&] { const auto call = rules.enter(ThreadTag::Worker, "counts"); }).join();
  { const auto call = rules.enter(ThreadTag::Control, "close"); }
}

TEST(ThreadRules, WorkersOfDifferentSessionsMayRunAtOnce) {
  ThreadRules one("plugin 'zipf'", kEnabled);
  ThreadRules two("plugin 'zipf'", kEnabled);
  const auto first = one.enter(ThreadTag::Worker, "counts");
  std::thread([&] { const auto second = two.enter(ThreadTag::Worker, "counts"); }).join();
}

TEST(ThreadRulesDeathTest, WorkersOfOneSessionMayNot) {
  ThreadRules rules("plugin 'zipf'", kEnabled);
  const auto first = rules.enter(ThreadTag::Worker, "counts");
  EXPECT_EXIT(
      std::thread([&] { const auto second = rules.enter(ThreadTag::Worker, "assign"); }).join(),
      testing::ExitedWithCode(70),
      "prism: bug: plugin 'zipf': assign\\(\\) \\[worker\\] is called while counts\\(\\) is "
      "running on the same session; the rule: \\[worker\\] functions never run concurrently");
}

TEST(ThreadRulesDeathTest, CloseWhileAnotherFunctionRuns) {
  ThreadRules rules("plugin 'zipf'", kEnabled);
  const auto first = rules.enter(ThreadTag::Worker, "counts");
  EXPECT_EXIT({ const auto second = rules.enter(ThreadTag::Control, "close"); },
              testing::ExitedWithCode(70),
              "close\\(\\) \\[control\\] is called while counts\\(\\)");
}

TEST(ThreadRulesDeathTest, TwoControlCallsOfDifferentSessions) {
  ThreadRules one("plugin 'zipf'", kEnabled);
  ThreadRules two("plugin 'even'", kEnabled);
  const auto first = one.enter(ThreadTag::Control, "open");
  EXPECT_EXIT(
      std::thread([&] { const auto second = two.enter(ThreadTag::Control, "open"); }).join(),
      testing::ExitedWithCode(70),
      "plugin 'even': open\\(\\) \\[control\\] is called while another \\[control\\] function");
}

TEST(ThreadRules, NothingIsCheckedUnlessAskedFor) {
  ::setenv("PRISM_CHECK_THREADS", "0", 1);
  ThreadRules rules("plugin 'zipf'");
  const auto first = rules.enter(ThreadTag::Worker, "counts");
  const auto second = rules.enter(ThreadTag::Worker, "counts");
  ::setenv("PRISM_CHECK_THREADS", "1", 1);
  EXPECT_TRUE(check_threads_wanted());
  ::unsetenv("PRISM_CHECK_THREADS");
  EXPECT_FALSE(check_threads_wanted());
}

}  // namespace
}  // namespace prism::host
