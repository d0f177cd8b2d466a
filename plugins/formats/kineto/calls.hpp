// SPDX-License-Identifier: Apache-2.0
/// Which calls of CUDA's runtime and driver matter.
#pragma once

#include <optional>
#include <string_view>

#include "plugins/formats/kineto/records.hpp"

namespace prism::kineto {

/// By name; none: a call that does not matter.
std::optional<Kind> kind_of_call(std::string_view name);

}  // namespace prism::kineto
