// SPDX-License-Identifier: Apache-2.0
/// The sizes of a job in the file meta-NAME.yaml beside trace-NAME.csv or timeline-NAME.json.gz.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "trace.hpp"

namespace prism::microbatch {

/// "dp_size: 2" and others by name; none: there is no such file.
std::optional<std::map<std::string, int64_t>> read_sizes(const std::string& trace_path);

/// What the sizes say that the trace does not show, in words; "" when they agree.
std::string compare_sizes(const Trace& trace, const std::map<std::string, int64_t>& sizes);

}  // namespace prism::microbatch
