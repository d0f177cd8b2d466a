// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "prism/abi/router.h"
#include "sdk/conformance/interface.hpp"

namespace prism::conformance {

/// Requests as a job makes them, small enough to try them all.
std::vector<prism_routing_request_t> routing_requests(uint64_t seed);
/// "counts() with 64 tokens, 8 experts, top_k 2, ..."
std::string describe(const char* function, const prism_routing_request_t& request);

extern const Kind kRouterKind;

}  // namespace prism::conformance
