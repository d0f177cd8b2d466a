// SPDX-License-Identifier: Apache-2.0
#include "tests/real_data.hpp"

namespace prism::test {

std::filesystem::path real_data(const std::string& name) {
  const std::filesystem::path path =
      std::filesystem::path(PRISM_SOURCE_DIR).parent_path() / "shared" / "data" / name;
  return std::filesystem::exists(path) ? path : std::filesystem::path();
}

}  // namespace prism::test
