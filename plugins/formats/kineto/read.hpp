// SPDX-License-Identifier: Apache-2.0
/// A file becomes the records of a rank.
#pragma once

#include <string>

#include "plugins/formats/kineto/records.hpp"

namespace prism::kineto {

/// Throws sdk::Error with file, line and byte.
RankTrace read_trace(const std::string& path);

}  // namespace prism::kineto
