// SPDX-License-Identifier: Apache-2.0
#include "sizes.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "decimal.hpp"
#include "input_file.hpp"

#include "prism/sdk/error.hpp"

namespace prism::microbatch {
namespace {

constexpr int64_t kLargest = 1 << 20;

std::filesystem::path path_beside(const std::string& trace_path) {
  const std::filesystem::path path(trace_path);
  std::string name = path.filename().string();
  name = name.substr(0, name.find('.'));
  for (const std::string_view prefix : {"trace-", "timeline-"}) {
    if (name.starts_with(prefix)) {
      return path.parent_path() / ("meta-" + name.substr(prefix.size()) + ".yaml");
    }
  }
  return {};
}

std::string_view without_blanks(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  return first == std::string_view::npos
             ? std::string_view()
             : text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

}  // namespace

std::optional<std::map<std::string, int64_t>> read_sizes(const std::string& trace_path) {
  const std::filesystem::path path = path_beside(trace_path);
  std::error_code error;
  if (path.empty() || !std::filesystem::is_regular_file(path, error)) {
    return std::nullopt;
  }
  InputFile file(path.string());
  std::map<std::string, int64_t> sizes;
  std::string_view line;
  while (file.line(line)) {
    const size_t colon = line.find(':');
    const std::string_view key = without_blanks(line.substr(0, colon));
    if (colon == std::string_view::npos || !key.ends_with("_size")) {
      continue;
    }
    const auto size = parse_whole(without_blanks(line.substr(colon + 1)));
    if (!size || *size < 1 || *size > kLargest) {
      throw sdk::Error(PRISM_STATUS_INVALID_ARGUMENT,
                       file.path() + ":" + std::to_string(file.line_number()) + ": " +
                           std::string(key) + " is no size; a whole number of at least 1 was " +
                           "expected");
    }
    sizes[std::string(key)] = *size;
  }
  return sizes;
}

std::string compare_sizes(const Trace& trace, const std::map<std::string, int64_t>& sizes) {
  std::map<std::string, int64_t> shown{{"world_size", static_cast<int64_t>(trace.workers.size())}};
  for (const Worker& worker : trace.workers) {
    int64_t& stages = shown["pp_size"];
    int64_t& data = shown["dp_size"];
    stages = std::max(stages, int64_t{worker.stage} + 1);
    data = std::max(data, int64_t{worker.data} + 1);
  }
  std::string differences;
  for (const auto& [name, n] : shown) {
    if (const auto said = sizes.find(name); said != sizes.end() && said->second != n) {
      differences += (differences.empty() ? "" : ", ") + name + " " + std::to_string(said->second) +
                     " but " + std::to_string(n) + " in the trace";
    }
  }
  return differences;
}

}  // namespace prism::microbatch
