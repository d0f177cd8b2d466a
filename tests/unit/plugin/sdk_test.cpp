// SPDX-License-Identifier: Apache-2.0
// The C++ layer that plugins are written with.
#include <gtest/gtest.h>
#include <new>
#include <stdexcept>
#include <string>

#include "prism/host/sinks.hpp"
#include "prism/sdk/error.hpp"
#include "prism/sdk/log.hpp"
#include "prism/sdk/options.hpp"

namespace prism::sdk {
namespace {

template <typename Body>
std::pair<prism_status_t, std::string> outcome(Body body) {
  const host::ErrorSink sink;
  const prism_status_t status = guarded(sink.c(), body);
  return {status, status == PRISM_STATUS_OK ? "" : sink.message(status)};
}

using Pair = std::pair<prism_status_t, std::string>;

TEST(SdkError, WhatIsThrownBecomesAStatus) {
  EXPECT_EQ(outcome([] {}), Pair(PRISM_STATUS_OK, ""));
  EXPECT_EQ(outcome([] { throw Error(PRISM_STATUS_NOT_FOUND, "gone"); }),
            Pair(PRISM_STATUS_NOT_FOUND, "gone"));
  EXPECT_EQ(outcome([] { throw Error(PRISM_STATUS_OK, "a failure all the same"); }),
            Pair(PRISM_STATUS_INTERNAL, "a failure all the same"));
  EXPECT_EQ(outcome([] { throw std::invalid_argument("bad"); }),
            Pair(PRISM_STATUS_INVALID_ARGUMENT, "bad"));
  EXPECT_EQ(outcome([] { throw std::bad_alloc(); }),
            Pair(PRISM_STATUS_RESOURCE_EXHAUSTED, "out of memory"));
  EXPECT_EQ(outcome([] { throw std::runtime_error("other"); }),
            Pair(PRISM_STATUS_INTERNAL, "other"));
  EXPECT_EQ(outcome([] { throw 7; }),
            Pair(PRISM_STATUS_INTERNAL, "threw something that is no std::exception"));
  EXPECT_EQ(guarded(nullptr, [] { throw 7; }), PRISM_STATUS_INTERNAL);
}

TEST(SdkOptions, TableIsMadeAtCompileTime) {
  static constexpr prism_str_t kModes[] = {to_c("fast"), to_c("exact")};
  static constexpr auto rows = options(text("mode", "How.").choices(kModes).by_default("\"fast\""),
                                       duration("grace", "How long.").range(0, 10).required());
  static_assert(rows.size() == 2);
  static_assert(rows[0].choice_count == 2 && rows[0].type == PRISM_OPTION_STRING);
  static_assert(rows[1].required == 1 && rows[1].max == 10);
  EXPECT_EQ(view(rows[0].default_text), "\"fast\"");
}

constexpr Option any_of(int32_t type) {
  return {type, "x", ""};
}
/// Whether the table would compile.
template <int32_t Type, auto Min, auto Max>
concept HasBounds = requires {
  typename std::integral_constant<bool, (any_of(Type).range(Min, Max), true)>;
};

TEST(SdkOptions, BoundsAreThoseOfTheType) {
  static constexpr auto rows =
      options(real("share", "").range(0, 1), real("factor", "").range(0.5, 2),
              integer("n", "").range(1, int64_t{1} << 40), duration("t", "").range(-5, 10U),
              bytes("size", "").range(uint8_t{1}, 4096L));
  static_assert(rows[0].real_min == 0 && rows[0].real_max == 1);
  static_assert(rows[1].real_min == 0.5 && rows[1].real_max == 2);
  static_assert(rows[2].min == 1 && rows[2].max == int64_t{1} << 40);
  static_assert(rows[3].min == -5 && rows[3].max == 10);
  static_assert(rows[4].min == 1 && rows[4].max == 4096);

  static_assert(HasBounds<PRISM_OPTION_FLOAT, 0, 1> && HasBounds<PRISM_OPTION_INT, 0, 1>);
  static_assert(!HasBounds<PRISM_OPTION_FLOAT, 1, 0> && !HasBounds<PRISM_OPTION_INT, 1, 0>);
  static_assert(!HasBounds<PRISM_OPTION_FLOAT, 0, 0> && !HasBounds<PRISM_OPTION_INT, 0, 0>);
  static_assert(!HasBounds<PRISM_OPTION_BYTES, 0, ~uint64_t{0}>);
  static_assert(!HasBounds<PRISM_OPTION_BOOL, 0, 1> && !HasBounds<PRISM_OPTION_STRING, 0, 1> &&
                !HasBounds<PRISM_OPTION_PATH, 0, 1>);
  EXPECT_THROW(any_of(PRISM_OPTION_INT).range(0.5, 2.0), Error);
  static constexpr prism_str_t kModes[] = {to_c("fast")};
  EXPECT_THROW(any_of(PRISM_OPTION_PATH).choices(kModes), Error);
}

TEST(SdkOptions, ValuesByNameAndType) {
  static constexpr auto rows = options(boolean("on", ""), real("ratio", ""), bytes("size", ""));
  prism_option_value_t values[3] = {};
  values[0] = {PRISM_OPTION_BOOL, 1, {}, {}};
  values[0].u.boolean = 1;
  values[1] = {PRISM_OPTION_FLOAT, 1, {}, {}};
  values[1].u.real = 0.5;
  values[2] = {PRISM_OPTION_BYTES, 0, {}, {}};
  const OptionValues v(option_table(rows), values, 3);
  EXPECT_TRUE(v.boolean("on"));
  EXPECT_EQ(v.real("ratio"), 0.5);
  EXPECT_FALSE(v.has("size"));
  EXPECT_THROW(v.bytes("size"), Error);
  EXPECT_THROW(v.integer("ratio"), Error);
  EXPECT_THROW(v.has("nothing"), Error);
}

struct Recorder {
  int32_t kept_from;
  int made = 0;
  std::string text;
};

TEST(SdkLog, LevelIsAskedBeforeTheTextIsMade) {
  Recorder recorder{PRISM_LOG_INFO, 0, {}};
  prism_host_t host{};
  host.struct_size = sizeof host;
  host.ctx = &recorder;
  host.log_enabled = [](void* ctx, int32_t level) noexcept -> uint8_t {
    return level >= static_cast<Recorder*>(ctx)->kept_from ? 1 : 0;
  };
  host.log = [](void* ctx, int32_t, prism_str_t message) noexcept {
    static_cast<Recorder*>(ctx)->text += std::string(view(message));
  };
  const auto make = [&] {
    ++recorder.made;
    return std::string("made");
  };
  log(Level::Error, "no host yet");
  detail::g_host = &host;
  log(Level::Debug, make);
  EXPECT_EQ(recorder.made, 0);
  log(Level::Info, make);
  log(Level::Warn, " and said");
  log(Level::Warn, []() -> std::string { throw std::runtime_error("swallowed"); });
  detail::g_host = nullptr;
  EXPECT_EQ(recorder.made, 1);
  EXPECT_EQ(recorder.text, "made and said");
}

}  // namespace
}  // namespace prism::sdk
