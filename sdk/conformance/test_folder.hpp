// SPDX-License-Identifier: Apache-2.0
/// Files of a test, and what a plugin made of them.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace prism::conformance {

/// An empty folder in the current one, gone with the object; one at a time. Its path is relative,
/// and so the same in every process, also where a plugin repeats it.
class TestFolder {
 public:
  TestFolder();
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;
  ~TestFolder();

  std::string path(const std::string& name) const;
  /// Writes the file `name`; returns its path.
  std::string write(const std::string& name, std::string_view content) const;
  /// Makes the folder `name`; returns its path.
  std::string make_folder(const std::string& name) const;

  /// All that is in it, at any depth: relative path -> content of a file, "" of a folder.
  std::map<std::string, std::string> content() const;
};

/// The bytes of a file. Fails the test when there is no reading it.
std::string read_test_file(const std::string& path);

}  // namespace prism::conformance
