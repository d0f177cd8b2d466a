// SPDX-License-Identifier: Apache-2.0
/// libFuzzer target of the ELF reader.
#include <cstdlib>

#include "core/plugin/elf.hpp"
#include "tests/fuzz/input_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string& path = prism::fuzz::input_file(data, size);
  const auto dependencies = prism::plugin::read_dependencies(path);
  if (!dependencies.ok() && dependencies.status().message().empty()) {
    std::abort();
  }
  (void)prism::plugin::read_file_facts(path);
  (void)prism::plugin::who_needs(path, "libnothing.so");
  return 0;
}
