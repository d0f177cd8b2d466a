// SPDX-License-Identifier: Apache-2.0
/// Small random traces of every kind, and all of a trace as JSON, for tests of its file.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/json.hpp"
#include "core/calibrate/observation.hpp"
#include "core/graph/trace.hpp"

namespace prism::trace_file {

/// The same for the same seed, everywhere.
graph::Trace random_trace(uint64_t seed);
/// One more sample of a job.
graph::Sample random_sample(const graph::Job& job, uint64_t seed);
calibrate::Observation random_observation(uint64_t seed);

/// Every field of the model. Equal texts: equal traces.
std::string dump(const graph::Trace& trace);
std::string dump(const calibrate::Observation& observation);
std::string dump(const graph::RankTimes& times);

}  // namespace prism::trace_file
