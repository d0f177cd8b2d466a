// SPDX-License-Identifier: Apache-2.0
/// Imports real traces with the plugins of this build.
#pragma once

#include <string>
#include <vector>

#include "core/calibrate/observation.hpp"
#include "core/plugin/formats.hpp"

namespace prism::trace_test {

/// A file of the data folder beside the checkout; "" where it is not there.
std::string data_file(const std::string& name);

/// With the defaults of the plugin's options: for plugins without options.
Result<calibrate::Observation> import_trace(const std::string& format,
                                            const std::vector<plugin::TraceFile>& files);

/// From the first arrival to the last end, calibrated and replayed.
Result<DurationNs> replayed_time(const calibrate::Observation& observation);

}  // namespace prism::trace_test
