// SPDX-License-Identifier: Apache-2.0
/// libFuzzer target of plugin.toml.
#include <cstdlib>
#include <string_view>

#include "core/plugin/manifest.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto manifest = prism::plugin::parse_manifest(text, "plugin.toml");
  if (manifest.ok() ? !prism::plugin::valid_id(manifest->id)
                    : manifest.status().message().empty()) {
    std::abort();
  }
  return 0;
}
