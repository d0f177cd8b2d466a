// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdio>
#include <exception>
#include <vector>

#include "prism/sdk/testing/fake_host.hpp"

using prism::sdk::testing::failure;
using prism::sdk::testing::FakeHost;
using prism::sdk::testing::Plugin;
using prism::sdk::testing::TensorSourceSession;

namespace {

int failures = 0;

void expect(bool holds, const char* what) {
  if (!holds) {
    std::printf("FAILED: %s\n", what);
    ++failures;
  }
}

}  // namespace

// What is thrown is the host's word on the plugin: an option that is not there, a failed open().
int main() try {
  const FakeHost host;
  const Plugin plugin(prism_plugin_v1(), host);

  TensorSourceSession plain(plugin);
  expect(plain.fill<float>({}, PRISM_DTYPE_F32, {2, 2}) == std::vector<float>{0, 1, 2, 3},
         "0, 1, 2, 3 by default");
  expect(plain.fill<float>({}, PRISM_DTYPE_F32, {3, 0}).empty(), "no elements");

  TensorSourceSession steep(plugin, {{"start", "-1.0"}, {"step", "0.5"}});
  expect(steep.fill<double>({}, PRISM_DTYPE_F64, {3}) == std::vector<double>{-1, -0.5, 0},
         "start and step");

  expect(failure([&] { plain.fill<int64_t>({}, PRISM_DTYPE_I64, {1}); }) ==
             "the ramp has elements of type f32 or f64, not i64",
         "other types are refused");
  return failures == 0 ? 0 : 1;
} catch (const std::exception& error) {
  expect(false, error.what());
  return 1;
}
