// SPDX-License-Identifier: Apache-2.0
/// A file into records.
#pragma once

#include <string>
#include <string_view>

#include "plugins/formats/chakra/records.hpp"

namespace prism::chakra {

/// Throws NOT_FOUND, DATA_LOSS for a file that is cut or damaged, INVALID_ARGUMENT for one that
/// says what cannot be.
RankTrace read_trace(const std::string& path);

/// Whether the file begins as a Chakra trace does.
bool begins_as_trace(const std::string& path);

}  // namespace prism::chakra
