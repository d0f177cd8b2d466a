// SPDX-License-Identifier: Apache-2.0
// Every tests/golden/config/NAME.toml must give exactly what is in NAME.stderr (nothing for a file
// that is right). With PRISM_UPDATE_GOLDEN=1 the .stderr files are written instead: update.sh.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <string>
#include <vector>

#include "core/config/experiment.hpp"

namespace prism::config {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = fs::path(PRISM_SOURCE_DIR) / "tests" / "golden" / "config";

std::vector<std::string> golden_names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kFolder)) {
    if (entry.path().extension() == ".toml") {
      names.push_back(entry.path().stem().string());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class ConfigGolden : public testing::TestWithParam<std::string> {};

TEST_P(ConfigGolden, Stderr) {
  // Relative names, so that no message holds the place of the checkout.
  fs::current_path(kFolder);
  Diagnostics diagnostics = check_file(GetParam() + ".toml");
  fs::path expected = GetParam() + ".stderr";
  if (std::getenv("PRISM_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(expected, std::ios::binary) << diagnostics.text();
    return;
  }
  ASSERT_TRUE(fs::exists(expected)) << "run tests/golden/update.sh and look at the result";
  EXPECT_EQ(diagnostics.text(), read(expected));
  EXPECT_EQ(diagnostics.status().exit_code(), diagnostics.empty() ? 0 : 2);
  EXPECT_EQ(diagnostics.empty(), GetParam().starts_with("ok-"));
}

INSTANTIATE_TEST_SUITE_P(All, ConfigGolden, testing::ValuesIn(golden_names()),
                         [](const testing::TestParamInfo<std::string>& param) {
                           std::string name = param.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace prism::config
