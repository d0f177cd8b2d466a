// SPDX-License-Identifier: Apache-2.0
/// What the user should know of the traces that were read, each kind of thing once.
#pragma once

#include "plugins/formats/kineto/records.hpp"
#include "prism/sdk/format.hpp"

namespace prism::kineto {

void add(Counts& to, const Counts& counts);
void tell(const Counts& counts, sdk::TraceSink& sink);

}  // namespace prism::kineto
