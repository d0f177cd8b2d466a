// SPDX-License-Identifier: Apache-2.0
#include "core/config/placeholders.hpp"

#include <string>

#include "core/config/experiment.hpp"

namespace prism::config {
namespace {

bool is_name_character(char c, bool first) {
  bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  return letter || (!first && c >= '0' && c <= '9');
}

}  // namespace

std::optional<Placeholder> find_placeholder(std::string_view text, size_t from) {
  for (size_t i = text.find('{', from); i != std::string_view::npos; i = text.find('{', i + 1)) {
    bool doubled = text.substr(i).starts_with("{{");
    size_t begin = i + (doubled ? 2 : 1);
    size_t end = begin;
    while (end < text.size() && is_name_character(text[end], end == begin)) {
      ++end;
    }
    if (end == begin || end >= text.size() || text[end] != '}') {
      continue;
    }
    std::string_view name = text.substr(begin, end - begin);
    if (doubled && text.substr(end).starts_with("}}")) {
      return Placeholder{i, end + 2, name, true};
    }
    return Placeholder{begin - 1, end + 1, name, false};
  }
  return std::nullopt;
}

std::string substitute_placeholders(std::string_view arg, uint32_t world_size, Rank rank) {
  std::string out;
  size_t done = 0;
  while (auto found = find_placeholder(arg, done)) {
    out += arg.substr(done, found->begin - done);
    if (found->escaped) {
      out += arg.substr(found->begin + 1, found->end - found->begin - 2);
    } else {
      out += std::to_string(found->name == "rank" ? rank : world_size);
    }
    done = found->end;
  }
  return out + std::string(arg.substr(done));
}

}  // namespace prism::config
