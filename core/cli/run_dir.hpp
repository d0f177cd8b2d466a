// SPDX-License-Identifier: Apache-2.0
/// The folder of an experiment's results (architecture 2), locked while a program works in it.
#pragma once

#include <string>

#include "core/base/status.hpp"

namespace prism::cli {

class RunDir {
 public:
  /// Creates the folder where needed and locks it; the log goes to its prism.log from now on.
  /// Errors: another program works there (its process number is named), no permission, disk full.
  static Result<RunDir> open(const std::string& path);
  RunDir(RunDir&& other) noexcept : path_(std::move(other.path_)), lock_(other.lock_) {
    other.lock_ = -1;
  }
  RunDir& operator=(RunDir&&) = delete;
  ~RunDir();

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  RunDir(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}

  std::string path_;
  int lock_;  ///< the lock goes with the descriptor, so a killed program leaves none
};

}  // namespace prism::cli
