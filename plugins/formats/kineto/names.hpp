// SPDX-License-Identifier: Apache-2.0
/// Each different text once.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

#include "prism/sdk/error.hpp"

namespace prism::kineto {

class Names {
 public:
  static constexpr size_t kMost = 8 << 20;  ///< bytes of all of them

  uint32_t index(std::string_view name) {
    const auto found = index_.find(name);
    if (found != index_.end()) {
      return found->second;
    }
    bytes_ += name.size() + sizeof(std::string);
    if (bytes_ > kMost) {
      throw sdk::Error(PRISM_STATUS_RESOURCE_EXHAUSTED,
                       "the trace has more different names than fit into " + std::to_string(kMost) +
                           " bytes; names of kernels and operations repeat in a trace of training");
    }
    names_.emplace_back(name);
    const auto number = static_cast<uint32_t>(names_.size() - 1);
    index_.emplace(names_.back(), number);
    return number;
  }
  std::string_view operator[](uint32_t index) const { return names_[index]; }

 private:
  std::deque<std::string> names_;  // does not move its strings
  std::unordered_map<std::string_view, uint32_t> index_;
  size_t bytes_ = 0;
};

}  // namespace prism::kineto
