// SPDX-License-Identifier: Apache-2.0
/// Text that somebody else wrote, made fit for a message: it is UTF-8 and cannot drive a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace prism {

/// Byte offset of the first byte that is not part of valid UTF-8, or npos.
size_t find_invalid_utf8(std::string_view text);

/// `text` with control characters and invalid UTF-8 replaced by '?', cut after `limit` bytes: for a
/// place inside a line.
std::string printable(std::string_view text, size_t limit = 60);

/// The same of a text of several lines, whole: newlines and tabs stay.
std::string printable_lines(std::string_view text);

}  // namespace prism
