// SPDX-License-Identifier: Apache-2.0
/// prism trace diff: two traces of a job, or the replicas of one.
#pragma once

#include "core/cli/arguments.hpp"

namespace prism::cli {

extern const Usage kTraceDiff;
/// Prints; returns the exit code: 1 where the structures differ.
int trace_diff(const Arguments& arguments);

}  // namespace prism::cli
