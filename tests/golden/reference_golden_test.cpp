// SPDX-License-Identifier: Apache-2.0
// docs/experiment-file.md is what the tables of options say. With PRISM_UPDATE_GOLDEN=1 it is
// written instead: update.sh.
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <string>

#include "core/config/reference.hpp"
#include "core/config/schema.hpp"

namespace prism::config {
namespace {

const std::string kPage = PRISM_SOURCE_DIR "/docs/experiment-file.md";

TEST(ReferenceGolden, Page) {
  if (std::getenv("PRISM_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(kPage, std::ios::binary) << reference_page();
    return;
  }
  std::ifstream in(kPage, std::ios::binary);
  const std::string committed{std::istreambuf_iterator<char>(in), {}};
  EXPECT_EQ(reference_page(), committed) << "run tests/golden/update.sh and look at the result";
}

TEST(ReferenceGolden, EveryKeyIsOnThePageWithAMeaning) {
  const std::string page = reference_page();
  for (const TableSchema& table : experiment_schema()) {
    EXPECT_NE(page.find("## [" + std::string(table.name) + "]"), std::string::npos);
    EXPECT_FALSE(table.doc.empty()) << table.name;
    for (const Option& option : table.options) {
      EXPECT_NE(page.find("| `" + std::string(option.name) + "` |"), std::string::npos);
      EXPECT_FALSE(option.doc.empty()) << table.name << "." << option.name;
    }
  }
}

}  // namespace
}  // namespace prism::config
