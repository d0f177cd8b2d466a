// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <exception>
#include <vector>

#include "prism/sdk/testing/fake_host.hpp"

using prism::sdk::testing::failure;
using prism::sdk::testing::FakeHost;
using prism::sdk::testing::Plugin;
using prism::sdk::testing::RouterSession;

namespace {

int failures = 0;

void expect(bool holds, const char* what) {
  if (!holds) {
    std::printf("FAILED: %s\n", what);
    ++failures;
  }
}

using Counts = std::vector<uint64_t>;

}  // namespace

// What is thrown is the host's word on the plugin: an option that is not there, a failed open().
int main() try {
  const FakeHost host;
  const Plugin plugin(prism_plugin_v1(), host);

  RouterSession router(plugin);
  expect(router.counts({.tokens = 10, .experts = 4, .top_k = 2}) == Counts{10, 4, 3, 3},
         "the first expert gets all tokens, the others share the rest");
  expect(router.counts({.tokens = 10, .experts = 2, .top_k = 2}) == Counts{10, 10},
         "with as many choices as experts, all get all");
  expect(router.counts({.tokens = 0, .experts = 3, .top_k = 1}) == Counts{0, 0, 0}, "no tokens");

  RouterSession even(plugin, {{"hot_experts", "0"}});
  expect(even.counts({.tokens = 10, .experts = 4, .top_k = 2}) == Counts{5, 5, 5, 5},
         "no hot expert: even");

  RouterSession hot(plugin, {{"hot_experts", "3"}});
  expect(hot.counts({.tokens = 10, .experts = 4, .top_k = 2}) == Counts{10, 10, 0, 0},
         "no more hot experts than choices");

  expect(failure([&] {
           router.counts({.tokens = 1, .experts = 2, .top_k = 3});
         }).find("top_k must be between 1 and the 2 experts") != std::string::npos,
         "more choices than experts are refused");
  return failures == 0 ? 0 : 1;
} catch (const std::exception& error) {
  expect(false, error.what());
  return 1;
}
