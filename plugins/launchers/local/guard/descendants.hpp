// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace prism::local {

/// Kills and reaps every descendant of this process, which must be a child subreaper, repeatedly
/// until there is none. Gives up after `limit`: a process may be stuck in the kernel, or belong to
/// another user.
void kill_descendants(std::chrono::milliseconds limit);

}  // namespace prism::local
