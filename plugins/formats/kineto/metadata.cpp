// SPDX-License-Identifier: Apache-2.0
#include "plugins/formats/kineto/metadata.hpp"

#include <charconv>
#include <limits>
#include <simdjson.h>

#include "plugins/formats/kineto/scanner.hpp"

namespace prism::kineto {
namespace {

using namespace std::string_literals;
using simdjson::ondemand::value;

constexpr uint64_t kMostRanks = 1 << 24;  // a rank, and how many there are

/// A whole number, as such or in quotes. Throws std::string.
uint64_t number_of(value of, std::string_view what, uint64_t most) {
  uint64_t number = 0;
  if (of.get_uint64().get(number) != simdjson::SUCCESS &&
      of.get_uint64_in_string().get(number) != simdjson::SUCCESS) {
    throw "distributedInfo has a '" + std::string(what) + "' that is no whole number";
  }
  if (number > most) {
    throw "distributedInfo has the " + std::string(what) + " " + std::to_string(number) +
        ", expected at most " + std::to_string(most);
  }
  return number;
}

std::vector<uint32_t> ranks_of(value of) {
  std::string_view text;
  if (of.get_string().get(text) == simdjson::SUCCESS) {
    return ranks_of_text(text);
  }
  simdjson::ondemand::array array;
  std::vector<uint32_t> ranks;
  if (of.get_array().get(array) != simdjson::SUCCESS) {
    return {};
  }
  for (auto each : array) {
    uint64_t rank = 0;
    if (each.get_uint64().get(rank) != simdjson::SUCCESS || rank >= kMostRanks) {
      return {};
    }
    ranks.push_back(static_cast<uint32_t>(rank));
  }
  return ranks;
}

void take_group(value of, RankTrace& trace) {
  simdjson::ondemand::object object;
  if (of.get_object().get(object) != simdjson::SUCCESS) {
    throw "distributedInfo has a group in pg_config that is no object"s;
  }
  std::string name;
  std::vector<uint32_t> ranks;
  for (auto each : object) {
    simdjson::ondemand::field field;
    std::string_view key;
    std::string_view text;
    if (std::move(each).get(field) != simdjson::SUCCESS ||
        field.unescaped_key().get(key) != simdjson::SUCCESS) {
      throw "distributedInfo is no valid JSON"s;
    }
    if (key == "pg_name" && field.value().get_string().get(text) == simdjson::SUCCESS) {
      name = text;
    } else if (key == "ranks") {
      ranks = ranks_of(field.value());
    }
  }
  if (!ranks.empty()) {
    trace.group_ranks[name] = std::move(ranks);
  }
}

void take_distributed_info(std::string_view text, RankTrace& trace) {
  simdjson::ondemand::parser parser;
  simdjson::ondemand::document document;
  simdjson::ondemand::object object;
  if (parser.iterate(text.data(), text.size(), text.size() + Scanner::kPadding).get(document) !=
          simdjson::SUCCESS ||
      document.get_object().get(object) != simdjson::SUCCESS) {
    throw "distributedInfo is no valid JSON object"s;
  }
  for (auto each : object) {
    simdjson::ondemand::field field;
    std::string_view key;
    if (std::move(each).get(field) != simdjson::SUCCESS ||
        field.unescaped_key().get(key) != simdjson::SUCCESS) {
      throw "distributedInfo is no valid JSON"s;
    }
    if (key == "rank") {
      trace.rank = static_cast<uint32_t>(number_of(field.value(), key, kMostRanks));
    } else if (key == "world_size") {
      trace.world_size = number_of(field.value(), key, kMostRanks);
    } else if (key == "pg_config") {
      simdjson::ondemand::array groups;
      if (field.value().get_array().get(groups) != simdjson::SUCCESS) {
        continue;  // older traces have a text here
      }
      for (auto group : groups) {
        value entry;
        if (group.get(entry) != simdjson::SUCCESS) {
          throw "distributedInfo is no valid JSON"s;
        }
        take_group(entry, trace);
      }
    }
  }
}

}  // namespace

std::vector<uint32_t> ranks_of_text(std::string_view text) {
  std::vector<uint32_t> ranks;
  if (!text.starts_with('[') || !text.ends_with(']')) {
    return {};
  }
  const char* at = text.data() + 1;
  const char* const end = text.data() + text.size() - 1;
  while (at != end) {
    while (at != end && (*at == ' ' || *at == ',')) {
      ++at;
    }
    uint32_t rank = 0;
    const auto [stop, error] = std::from_chars(at, end, rank);
    if (error != std::errc() || rank >= kMostRanks) {
      return {};
    }
    ranks.push_back(rank);
    at = stop;
  }
  return ranks;
}

void take_member(std::string_view key, std::string_view text, RankTrace& trace) {
  if (key == "distributedInfo") {
    take_distributed_info(text, trace);
    return;
  }
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), trace.base_ns);
  if (error != std::errc() || end != text.data() + text.size() || trace.base_ns < 0 ||
      trace.base_ns > std::numeric_limits<int64_t>::max() / 2) {
    throw std::string(key) + " is '" + std::string(text.substr(0, 40)) +
        "', expected whole nanoseconds";
  }
}

}  // namespace prism::kineto
