// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sdk/conformance/interface.hpp"

namespace prism::conformance {

extern const Kind kFormatKind;

}  // namespace prism::conformance
