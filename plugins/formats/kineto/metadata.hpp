// SPDX-License-Identifier: Apache-2.0
/// "distributedInfo" and "baseTimeNanoseconds": which rank this is, of how many, in which groups.
#pragma once

#include <string_view>

#include "plugins/formats/kineto/records.hpp"

namespace prism::kineto {

/// `text` is the value of member `key`, with Scanner::kPadding bytes behind it. Throws std::string:
/// what is wrong.
void take_member(std::string_view key, std::string_view text, RankTrace& trace);

/// "[0, 1, 2]" in group order; empty: cut short ("..."), or no such list.
std::vector<uint32_t> ranks_of_text(std::string_view text);

}  // namespace prism::kineto
