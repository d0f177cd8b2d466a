// SPDX-License-Identifier: Apache-2.0
/// Which ranks process groups have, as JSON: of a METADATA node (what PyTorch says), and of
/// ASTRA-sim's file of communicator groups.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plugins/formats/chakra/records.hpp"

namespace prism::chakra {

/// `values` is ['[{"pg_name": "1", "ranks": [0, 1], ...}, ...]'], or something else: then nothing
/// is added. False: it looks like it, but cannot be read.
bool read_groups_of_input(std::string_view values, std::vector<Group>& groups);

/// {"1": [0, 1], ...}. Throws Error that names the file.
std::vector<Group> read_group_file(const std::string& path);

}  // namespace prism::chakra
