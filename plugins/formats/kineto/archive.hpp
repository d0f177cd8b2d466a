// SPDX-License-Identifier: Apache-2.0
/// The traces of a path: the file itself, or the .json files of a .tar or .tar.gz.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "plugins/formats/kineto/source.hpp"

namespace prism::kineto {

/// `entry`: its name in the archive; empty: the file itself. The source is valid during the call.
using TraceVisitor = std::function<void(const std::string& entry, Source& source)>;

/// In the order of the archive. Throws sdk::Error as open_source() does, DATA_LOSS for a damaged
/// archive, and INVALID_ARGUMENT for one without a trace.
void for_each_trace(const std::string& path, const TraceVisitor& visit);

/// The line (from 1) in which byte `at` of a trace stands; reads it again.
uint64_t line_of(const std::string& path, const std::string& entry, uint64_t at);

}  // namespace prism::kineto
