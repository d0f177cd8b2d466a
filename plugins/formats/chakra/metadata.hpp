// SPDX-License-Identifier: Apache-2.0
/// GlobalMetadata, the first message of a file.
#pragma once

#include <string_view>

#include "plugins/formats/chakra/records.hpp"

namespace prism::chakra {

/// Throws Malformed.
void read_metadata(std::string_view message, RankTrace& trace);

}  // namespace prism::chakra
