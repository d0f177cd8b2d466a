// SPDX-License-Identifier: Apache-2.0
/// libFuzzer target of the agent protocol's decoder:
///   decoder_fuzz CORPUS_FOLDER tests/golden/wire
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "tests/fuzz/decoder_check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): bytes as characters
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const std::string rule = prism::wire::broken_rule(bytes); !rule.empty()) {
    std::fprintf(stderr, "broken: %s\n", rule.c_str());
    std::abort();
  }
  return 0;
}
