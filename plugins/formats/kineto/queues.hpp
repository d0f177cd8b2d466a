// SPDX-License-Identifier: Apache-2.0
/// Waits that no call shows. Streams share the hardware's queues (CUDA_DEVICE_MAX_CONNECTIONS), and
/// what stands in a queue behind a wait of another stream waits too.
#pragma once

#include <vector>

#include "plugins/formats/kineto/timeline.hpp"

namespace prism::kineto {

/// Adds to `waits`, sorted before and after: an entry that was ready more than 50 us before it
/// began depends on the entry of another stream that was launched before it and ended last in the
/// 10 us before it began, where there is one. Counts them.
void add_queue_waits(Timeline& timeline, std::vector<Edge>& waits);

}  // namespace prism::kineto
