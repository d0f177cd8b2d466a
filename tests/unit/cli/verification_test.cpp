// SPDX-License-Identifier: Apache-2.0
#include "core/cli/verification.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace prism::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Verification two_ranks() {
  Verification verification;
  verification.world_size = 2;
  verification.links.resize(3);
  verification.measured = {100'000'000, 90'000'000, 110'000'000};
  verification.predicted = {95'000'000, 91'000'000, 99'000'000};
  verification.args_given = true;
  verification.while_recorded.wanted = verification.while_real.wanted = 1000;
  return verification;
}

TEST(Verification, MeasuredStandsBesidePredicted) {
  const std::string text = verification_text(two_ranks());
  EXPECT_THAT(text, HasSubstr("3 rounds"));
  EXPECT_THAT(text, HasSubstr("link of this machine, round 3: "));
  EXPECT_THAT(text, HasSubstr("predicted is 5.00 % below measured"));
  EXPECT_THAT(text, Not(HasSubstr("aborted")));
}

TEST(Verification, AbortsAfterAGoodEndAreCounted) {
  Verification verification = two_ranks();
  verification.late_aborts = 2;
  EXPECT_THAT(verification_text(verification), HasSubstr("2 ranks aborted at exit"));
}

TEST(Verification, CoresThatWereLeftToTheRanksNeedNoNote) {
  Verification verification = two_ranks();
  verification.while_recorded.stolen = 30;
  verification.while_real.others = 40;
  EXPECT_EQ(note_taken_cores(verification), std::nullopt);
}

TEST(Verification, ANoteSaysWhoTookTheCores) {
  Verification verification = two_ranks();
  verification.while_real.stolen = 120;
  verification.while_recorded.others = 30;
  const std::optional<std::string> note = note_taken_cores(verification);
  ASSERT_TRUE(note);
  EXPECT_THAT(*note, HasSubstr("during the real runs host 12.0 %, other programs 0.00 %"));
  EXPECT_THAT(*note, HasSubstr("during the recordings host 0.00 %, other programs 3.00 %"));
}

TEST(Verification, MetricsHoldSharesOfBothSides) {
  Verification verification = two_ranks();
  verification.while_real.stolen = 120;
  std::string text;
  JsonWriter json(text, JsonWriter::Layout::OneLine);
  json.begin_object();
  write_verification(json, verification);
  json.end_object();
  EXPECT_THAT(text, HasSubstr(R"("rounds": 3)"));
  EXPECT_THAT(text, HasSubstr(R"("taken_while_real": {"stolen": 0.12, "others": 0)"));
}

}  // namespace
}  // namespace prism::cli
