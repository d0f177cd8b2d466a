// SPDX-License-Identifier: Apache-2.0
/// What a trace says of itself.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/ids.hpp"
#include "core/graph/file/decoder.hpp"
#include "core/graph/file/encoder.hpp"

namespace prism::graph::file {

/// The section `contents`.
struct Contents {
  std::string origin;
  std::vector<std::string> notes;
  uint32_t kinds = 0;
  std::vector<Rank> times_from;
};

template <typename Archive, typename Text>
void code_texts(Archive& archive, const char* name, Text& texts) {
  archive.list(name, texts, 48);
  archive.texts(
      name, texts, [](auto& text) -> auto& { return text; });
}

template <typename Archive, typename Its>
void code_contents(Archive& archive, Its& contents) {
  archive.text("origin", contents.origin);
  code_texts(archive, "notes", contents.notes);
  archive.number("kinds of iterations", contents.kinds);
  archive.list("ranks", contents.times_from, 12);
  archive.indices(
      "ranks", contents.times_from, [](auto& rank) -> auto& { return rank; });
}

}  // namespace prism::graph::file
