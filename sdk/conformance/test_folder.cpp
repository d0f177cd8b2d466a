// SPDX-License-Identifier: Apache-2.0
#include "sdk/conformance/test_folder.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>

#include "sdk/conformance/test.hpp"

namespace prism::conformance {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFolder = "prism-check-files";

[[noreturn]] void fail_itself(const std::string& what) {
  fail("no files for the test itself: " + what);
}

}  // namespace

TestFolder::TestFolder() {
  std::error_code error;
  if (!fs::create_directory(kFolder, error)) {
    fail_itself(std::string("cannot make the folder ") + kFolder +
                (error ? ": " + error.message() : ", it is there"));
  }
}

TestFolder::~TestFolder() {
  std::error_code ignored;
  fs::remove_all(kFolder, ignored);
}

std::string TestFolder::path(const std::string& name) const {
  return std::string(kFolder) + "/" + name;
}

std::string TestFolder::write(const std::string& name, std::string_view content) const {
  std::string file = path(name);
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out.write(content.data(), static_cast<std::streamsize>(content.size()));
  out.close();
  if (!out) {
    fail_itself("cannot write " + file);
  }
  return file;
}

std::string TestFolder::make_folder(const std::string& name) const {
  std::string folder = path(name);
  std::error_code error;
  if (!fs::create_directory(folder, error)) {
    fail_itself("cannot make the folder " + folder);
  }
  return folder;
}

std::map<std::string, std::string> TestFolder::content() const {
  std::map<std::string, std::string> found;
  std::error_code error;
  for (fs::recursive_directory_iterator it(kFolder, error), end; !error && it != end;
       it.increment(error)) {
    found[it->path().lexically_relative(kFolder).string()] =
        it->is_regular_file(error) ? read_test_file(it->path().string()) : std::string();
  }
  return found;
}

std::string read_test_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string content(std::istreambuf_iterator<char>(in), {});
  if (!in.is_open() || in.bad()) {
    fail_itself("cannot read " + path);
  }
  return content;
}

}  // namespace prism::conformance
