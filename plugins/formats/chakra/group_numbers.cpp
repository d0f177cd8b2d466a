// SPDX-License-Identifier: Apache-2.0
#include "plugins/formats/chakra/group_numbers.hpp"

#include <utility>

namespace prism::chakra {

std::vector<uint32_t> GroupNumbers::of_rank(
    const std::vector<sdk::TraceCommunicator>& communicators) {
  std::map<std::string, uint32_t> created;
  std::vector<uint32_t> numbers;
  numbers.reserve(communicators.size());
  for (const sdk::TraceCommunicator& communicator : communicators) {
    std::string what =
        communicator.description + '\0' + communicator.backend + '\0' + json_of(communicator.ranks);
    what += '\0' + std::to_string(created[what]++);  // the n-th of its kind
    const auto [known, added] =
        numbers_.try_emplace(std::move(what), static_cast<uint32_t>(ranks_.size() + 1));
    if (added) {
      ranks_.push_back(communicator.ranks);
    }
    numbers.push_back(known->second);
  }
  return numbers;
}

std::string GroupNumbers::json() const {
  std::string text = "{";
  for (size_t i = 0; i < ranks_.size(); ++i) {
    text += (i == 0 ? "\n  \"" : ",\n  \"") + std::to_string(i + 1) + "\": " + json_of(ranks_[i]);
  }
  return text + "\n}\n";
}

std::string json_of(const std::vector<uint32_t>& ranks) {
  std::string text;
  for (const uint32_t rank : ranks) {
    text += (text.empty() ? "[" : ", ") + std::to_string(rank);
  }
  return text.empty() ? "[]" : text + "]";
}

}  // namespace prism::chakra
