// SPDX-License-Identifier: Apache-2.0
/// A plugin as the conformance tests want it: from its manifest, without loading it.
#pragma once

#include <string>

#include "core/base/status.hpp"
#include "core/plugin/discovery.hpp"
#include "sdk/conformance/subject.hpp"

namespace prism::cli {

/// `candidate` must be Ok. `options_file` holds values for the plugin's options, written as in an
/// experiment file; empty: defaults. Errors (Domain::Config): that file is no TOML.
Result<conformance::Subject> subject_of(const plugin::Candidate& candidate,
                                        const std::string& options_file);

}  // namespace prism::cli
