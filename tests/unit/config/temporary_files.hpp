// SPDX-License-Identifier: Apache-2.0
// A folder of its own for each test, with a script, that is gone afterwards.
#pragma once

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <unistd.h>

namespace prism::config {

class TemporaryFiles : public testing::Test {
 protected:
  TemporaryFiles() {
    std::string pattern = (std::filesystem::temp_directory_path() / "prism-config-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    write("train.py", "");
  }
  ~TemporaryFiles() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return path(name);
  }

  std::filesystem::path folder_;
};

/// The start of every experiment here.
inline const std::string kHead = "[experiment]\nname = \"x\"\n[job]\nscript = \"train.py\"\n";
inline const std::string kLink = "[link.default]\nlatency = \"25 us\"\nbandwidth = \"12.5 GB/s\"\n";

}  // namespace prism::config
