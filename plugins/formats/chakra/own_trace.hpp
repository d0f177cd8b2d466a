// SPDX-License-Identifier: Apache-2.0
/// A trace that Prism wrote: lanes, times, communicators and labels come back as they were.
#pragma once

#include "plugins/formats/chakra/order.hpp"
#include "plugins/formats/chakra/records.hpp"
#include "prism/sdk/format.hpp"

namespace prism::chakra {

/// Tells the sink, at which the rank has begun, of all nodes. Throws INVALID_ARGUMENT for what
/// Prism does not write.
void tell_own(const RankTrace& trace, const Needs& needs, sdk::TraceSink& sink);

}  // namespace prism::chakra
