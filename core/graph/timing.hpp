// SPDX-License-Identifier: Apache-2.0
/// Puts durations into recorded programs: transfers from the link model, compute scaled.
#pragma once

#include <functional>

#include "core/graph/job.hpp"
#include "prism/link/link.hpp"

namespace prism::graph {

/// The link that a communicator's data takes.
using LinkChooser = std::function<link::Link(const Communicator&)>;

/// Sets the duration of every communication to its pure transfer time. A communication whose data
/// a Transfer node moves has none of its own: the Transfer gets it; that of a batch is the sum over
/// its parts, since one core moves one message after the other.
void apply_links(Program& program, const LinkChooser& choose);
void apply_links(Job& job, const LinkChooser& choose);

/// Multiplies the durations of compute nodes, rounded to the nearest ns. `factor` >= 0, finite.
void scale_compute(Program& program, double factor);
void scale_compute(Job& job, double factor);

}  // namespace prism::graph
