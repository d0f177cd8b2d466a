// SPDX-License-Identifier: Apache-2.0
/// Most of a trace does not matter. Whether an event does is told by its phase, category and name,
/// which stand first: a look at them is cheaper than a parser's.
#pragma once

#include <string_view>

#include "plugins/formats/kineto/event.hpp"

namespace prism::kineto {

/// The category of an event's "cat", "name" not yet looked at (Operation for every operation).
Category category_of(std::string_view name);
/// The category of an event of that name.
Category refined(Category category, std::string_view name);

/// False: an event that does not matter, for certain. True: to be parsed.
bool may_matter(std::string_view event);

}  // namespace prism::kineto
