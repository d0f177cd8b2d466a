// SPDX-License-Identifier: Apache-2.0
// The fakes for plugin authors, on a small router in this very program.
#include "prism/sdk/testing/fake_host.hpp"

#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "prism/sdk/log.hpp"
#include "prism/sdk/plugin.hpp"

namespace {

constexpr prism_str_t kModes[] = {prism::sdk::to_c("even"), prism::sdk::to_c("none")};

class Sample {
 public:
  static constexpr auto kOptions =
      prism::sdk::options(prism::sdk::text("mode", "How.").choices(kModes).required(),
                          prism::sdk::integer("level", "How much.").range(0, 9).by_default("3"),
                          prism::sdk::real("share", "Of all.").range(0.0, 1.0).by_default("0.5"),
                          prism::sdk::boolean("on", "Whether.").by_default("true"),
                          prism::sdk::duration("delay", "How long.").by_default("\"25 us\""),
                          prism::sdk::bytes("room", "How big.").by_default("\"16 MiB\""),
                          prism::sdk::path("table", "From where."));

  explicit Sample(const prism::sdk::OptionValues& values) {
    if (values.text("mode") == "none") {
      throw prism::sdk::Error(PRISM_STATUS_INVALID_ARGUMENT, "mode none routes nothing");
    }
    seen = {static_cast<double>(values.integer("level")),
            values.real("share"),
            values.boolean("on") ? 1.0 : 0.0,
            static_cast<double>(values.duration_ns("delay")),
            static_cast<double>(values.bytes("room")),
            values.has("table") ? 1.0 : 0.0};
    prism::sdk::log(prism::sdk::Level::Info, "opened");
  }
  void counts(const prism::sdk::RoutingRequest& request, std::span<uint64_t> counts) const {
    for (uint64_t& count : counts) {
      count = request.tokens * request.top_k / request.experts;
    }
  }

  static inline std::vector<double> seen;
};

}  // namespace

PRISM_PLUGIN("sample", "0.1.0", prism::sdk::Router<Sample>);

namespace prism::sdk::testing {
namespace {

TEST(FakeHost, DefaultsAndGivenValuesArriveAsTheHostGivesThem) {
  const FakeHost host;
  const Plugin plugin(prism_plugin_v1(), host);
  RouterSession router(plugin, {{"mode", "\"even\""}});
  EXPECT_EQ(Sample::seen, (std::vector<double>{3, 0.5, 1, 25'000, 16 << 20, 0}));
  RouterSession other(plugin, {{"mode", "even"},
                               {"level", "9"},
                               {"share", "0"},
                               {"on", "false"},
                               {"delay", "\"1.5 ms\""},
                               {"room", "2 kB"},
                               {"table", "/t"}});
  EXPECT_EQ(Sample::seen, (std::vector<double>{9, 0, 0, 1'500'000, 2000, 1}));
  EXPECT_EQ(router.counts({.tokens = 8, .experts = 4, .top_k = 2}), std::vector<uint64_t>(4, 4));
  EXPECT_TRUE(host.log().contains("opened"));
  EXPECT_EQ(host.log().lines().size(), 2U);
}

TEST(FakeHost, FailuresCarryCodeAndMessage) {
  const FakeHost host;
  const Plugin plugin(prism_plugin_v1(), host);
  EXPECT_EQ(failure([&] {
              RouterSession(plugin, {{"mode", "none"}});
            }),
            "mode none routes nothing");
  RouterSession router(plugin, {{"mode", "even"}});
  EXPECT_EQ(failure([&] { router.counts({.tokens = 1, .experts = 1}); }), "");
  try {
    router.counts({.tokens = 1, .experts = 2, .top_k = 3});
    FAIL() << "top_k beyond the experts was taken";
  } catch (const Failure& caught) {
    EXPECT_EQ(caught.code(), PRISM_STATUS_INVALID_ARGUMENT);
  }
  EXPECT_EQ(failure([&] { router.assign({.tokens = 1, .experts = 2}); }),
            "the router has no assign()");
}

TEST(FakeHost, OptionsThatTheHostWouldRefuseAreMistakesOfTheTest) {
  const FakeHost host;
  const Plugin plugin(prism_plugin_v1(), host);
  const auto refused = [&](const Options& options) -> std::string {
    try {
      RouterSession(plugin, options);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return {};
  };
  EXPECT_EQ(refused({}), "option 'mode' is required: give the session a value for it");
  EXPECT_EQ(refused({{"mode", "even"}, {"levl", "1"}}),
            "there is no option 'levl'; there are: mode, level, share, on, delay, room, table");
  EXPECT_EQ(refused({{"mode", "odd"}}), "option 'mode' does not take odd");
  EXPECT_EQ(refused({{"mode", "even"}, {"level", "10"}}),
            "option 'level' does not take 10, which is out of range");
  EXPECT_EQ(refused({{"mode", "even"}, {"level", "1.5"}}), "option 'level' does not take 1.5");
  EXPECT_EQ(refused({{"mode", "even"}, {"share", "1.1"}}),
            "option 'share' does not take 1.1, which is out of range");
  EXPECT_EQ(refused({{"mode", "even"}, {"on", "yes"}}), "option 'on' does not take yes");
  EXPECT_EQ(refused({{"mode", "even"}, {"delay", "25"}}), "option 'delay' does not take 25");
  EXPECT_EQ(refused({{"mode", "even"}, {"room", "1 us"}}), "option 'room' does not take 1 us");
}

TEST(FakeHost, LinesBelowTheLevelAreNotKept) {
  const FakeHost host(PRISM_LOG_WARN);
  const Plugin plugin(prism_plugin_v1(), host);
  const RouterSession router(plugin, {{"mode", "even"}});
  EXPECT_TRUE(host.log().lines().empty());
}

TEST(FakeHost, TablesThatNoHostTakes) {
  const FakeHost host;
  EXPECT_THROW(Plugin(nullptr, host), std::runtime_error);
  const Plugin plugin(prism_plugin_v1(), host);
  EXPECT_THROW(TensorSourceSession{plugin}, std::runtime_error);
}

}  // namespace
}  // namespace prism::sdk::testing
