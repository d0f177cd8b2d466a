// SPDX-License-Identifier: Apache-2.0
/// The file of an observation: a slice of a run, or an imported trace before it is calibrated. The
/// container is that of PrismTrace (docs/prismtrace.md), with sections of its own.
#pragma once

#include <string>

#include "core/base/status.hpp"
#include "core/calibrate/observation.hpp"
#include "core/graph/trace_file.hpp"

namespace prism::calibrate {

/// Replaces the file; readers see the old content or the new one. What a reader would refuse is not
/// written. Programs must have times of 0, as ObservationBuilder makes them.
Status write_observation(const std::string& path, const Observation& observation,
                         graph::Storage storage = graph::Storage::Compressed);

/// All of it. The file is untrusted: what ObservationBuilder promises is checked. Errors name the
/// file, the section, where it is and what was expected.
Result<Observation> read_observation(const std::string& path);

}  // namespace prism::calibrate
