// SPDX-License-Identifier: Apache-2.0
/// Timelines for an exporter, as a host may have them.
#pragma once

#include <string>
#include <vector>

#include "prism/sdk/testing/trace_record.hpp"

namespace prism::conformance {

struct Timeline {
  std::string what;  ///< "a timeline of two ranks"
  std::vector<sdk::testing::TraceRecord::Rank> ranks;
};

/// Two ranks that compute, reduce together and send each other a message.
Timeline plain_timeline();
/// The plain one, and others that are unusual.
std::vector<Timeline> timelines();
/// One computation of this name and duration.
Timeline one_node(const std::string& name, int64_t duration_ns);

}  // namespace prism::conformance
