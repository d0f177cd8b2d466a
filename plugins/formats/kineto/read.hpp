// SPDX-License-Identifier: Apache-2.0
/// A file becomes the records of a rank.
#pragma once

#include <string>

#include "plugins/formats/kineto/records.hpp"
#include "plugins/formats/kineto/source.hpp"

namespace prism::kineto {

/// `path` and `entry` are what is read, see for_each_trace(). Throws sdk::Error with file, line and
/// byte.
RankTrace read_trace(const std::string& path, const std::string& entry, Source& source);

/// A trace's name for messages.
std::string shown(const std::string& path, const std::string& entry);

}  // namespace prism::kineto
