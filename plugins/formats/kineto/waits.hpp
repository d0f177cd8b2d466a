// SPDX-License-Identifier: Apache-2.0
/// What waited for what inside a rank, beyond the order of a stream and of launch and kernel.
///
/// Newer traces say it ("cuda_sync"). Else it is inferred from the calls, and only what the times
/// of the trace do not contradict is kept:
/// * A kernel of NCCL on a stream of its own, launched behind a cudaStreamWaitEvent, depends on the
///   last entry of the stream on which its thread was computing.
/// * A kernel launched behind a wait for a collective (an operation "wait" with a
///   cudaStreamWaitEvent inside) depends on the last communication of that group.
/// * A kernel launched behind another cudaStreamWaitEvent depends on the last entry of the stream
///   that its thread used before, if that is another; else on the last communication of another
///   stream. Waits inside NCCL's own launches do not count.
/// * cudaStreamSynchronize depends on the last entry of the stream that its thread used last, if
///   that had ended when the call returned, else on the entry that ended last during the call;
///   cudaEventSynchronize on the latter; cudaDeviceSynchronize on the last entry of every stream.
#pragma once

#include <vector>

#include "plugins/formats/kineto/timeline.hpp"

namespace prism::kineto {

/// Sorted. `depends_on` ends before the record starts; before its end, for a synchronization.
std::vector<Edge> find_waits(Timeline& timeline);

}  // namespace prism::kineto
