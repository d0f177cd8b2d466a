// SPDX-License-Identifier: Apache-2.0
#include "csv_row.hpp"

namespace prism::microbatch {

bool split_row(std::string_view line, std::vector<std::string>& fields) {
  size_t count = 0;
  bool quoted = false;
  const auto next_field = [&]() -> std::string& {
    if (count == fields.size()) {
      fields.emplace_back();
    }
    fields[count].clear();
    return fields[count++];
  };
  std::string* field = &next_field();
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') {
      *field += '"';
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      field = &next_field();
    } else {
      *field += c;
    }
  }
  fields.resize(count);
  return !quoted;
}

}  // namespace prism::microbatch
