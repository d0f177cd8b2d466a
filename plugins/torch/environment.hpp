// SPDX-License-Identifier: Apache-2.0
/// The environment of a process as a list of "NAME=value".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace prism::torch_runtime {

class Environment {
 public:
  explicit Environment(std::vector<std::string> entries) : entries_(std::move(entries)) {}

  std::optional<std::string> get(std::string_view name) const {
    for (const std::string& entry : entries_) {
      if (names(entry, name)) {
        return entry.substr(name.size() + 1);
      }
    }
    return std::nullopt;
  }

  void unset(std::string_view name) {
    std::erase_if(entries_, [&](const std::string& entry) { return names(entry, name); });
  }

  void set(std::string_view name, std::string_view value) {
    unset(name);
    entries_.push_back(std::string(name) + "=" + std::string(value));
  }

  void set_default(std::string_view name, std::string_view value) {
    if (!get(name)) {
      set(name, value);
    }
  }

  const std::vector<std::string>& entries() const { return entries_; }

 private:
  static bool names(std::string_view entry, std::string_view name) {
    return entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=';
  }

  std::vector<std::string> entries_;
};

}  // namespace prism::torch_runtime
