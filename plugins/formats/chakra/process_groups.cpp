// SPDX-License-Identifier: Apache-2.0
#include "plugins/formats/chakra/process_groups.hpp"

#include <simdjson.h>

#include "prism/sdk/error.hpp"

namespace prism::chakra {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::object;

constexpr std::string_view kBackend = "nccl";  // where the trace names none

bool read_ranks(const array& list, std::vector<uint32_t>& ranks) {
  ranks.reserve(list.size());
  for (const element& entry : list) {
    uint64_t rank = 0;
    if (entry.get(rank) != simdjson::SUCCESS || rank >= kNone) {
      return false;
    }
    ranks.push_back(static_cast<uint32_t>(rank));
  }
  return true;
}

bool read_group(const element& entry, Group& group) {
  std::string_view text;
  array ranks;
  if (entry["pg_name"].get(text) != simdjson::SUCCESS ||
      entry["ranks"].get(ranks) != simdjson::SUCCESS) {
    return false;
  }
  group.name = text;
  if (entry["pg_desc"].get(text) == simdjson::SUCCESS) {
    group.description = text;
  }
  const bool gloo_only = entry["backend_config"].get(text) == simdjson::SUCCESS &&
                         text.find("gloo") != text.npos && text.find(kBackend) == text.npos;
  group.backend = gloo_only ? "gloo" : kBackend;
  return read_ranks(ranks, group.ranks);
}

}  // namespace

bool read_groups_of_input(std::string_view values, std::vector<Group>& groups) {
  if (values.find("\"pg_name\"") == values.npos) {
    return true;
  }
  const size_t begin = values.find("[{");
  const size_t end = values.rfind("}]");
  simdjson::dom::parser parser;
  array list;
  if (begin == values.npos || end == values.npos || end < begin ||
      parser.parse(values.data() + begin, end + 2 - begin).get(list) != simdjson::SUCCESS) {
    return false;
  }
  std::vector<Group> read;
  read.reserve(list.size());
  for (const element& entry : list) {
    if (!read_group(entry, read.emplace_back())) {
      return false;
    }
  }
  std::move(read.begin(), read.end(), std::back_inserter(groups));
  return true;
}

std::vector<Group> read_group_file(const std::string& path) {
  simdjson::dom::parser parser;
  object named;
  if (const auto error = parser.load(path).get(named); error != simdjson::SUCCESS) {
    throw sdk::Error(
        error == simdjson::IO_ERROR ? PRISM_STATUS_NOT_FOUND : PRISM_STATUS_INVALID_ARGUMENT,
        path + ": is no file of process groups ({\"1\": [0, 1], ...} was expected): " +
            simdjson::error_message(error));
  }
  std::vector<Group> groups;
  groups.reserve(named.size());
  for (const auto& [name, entry] : named) {
    Group& group = groups.emplace_back();
    group.name = name;
    group.backend = kBackend;
    array ranks;
    if (entry.get(ranks) != simdjson::SUCCESS || !read_ranks(ranks, group.ranks)) {
      throw sdk::Error(
          PRISM_STATUS_INVALID_ARGUMENT,
          path + ": group '" + group.name + "' is no list of ranks ([0, 1, ...] was expected)");
    }
  }
  return groups;
}

}  // namespace prism::chakra
