// SPDX-License-Identifier: Apache-2.0
// The plugin as the host sees it, through its library.
#include "prism/abi/plugin.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>

#include "prism/host/sinks.hpp"
#include "tests/plugins/kineto/trace_text.hpp"

namespace prism::kineto::testing {
namespace {

TEST(KinetoPlugin, ImportsThroughItsTable) {
  const std::string path = std::string(PRISM_PLUGIN_ROOT) + "/kineto/libprism_kineto.so";
  const std::unique_ptr<void, int (*)(void*)> library(::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL),
                                                      &::dlclose);
  ASSERT_NE(library, nullptr) << ::dlerror();
  EXPECT_NE(::dlsym(library.get(), "prism_plugin_v1"), nullptr);
}

}  // namespace
}  // namespace prism::kineto::testing
