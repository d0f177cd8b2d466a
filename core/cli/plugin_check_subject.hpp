// SPDX-License-Identifier: Apache-2.0
/// A plugin as the conformance tests want it: from its manifest, without loading it.
#pragma once

#include <string>
#include <vector>

#include "core/base/status.hpp"
#include "core/plugin/discovery.hpp"
#include "sdk/conformance/subject.hpp"

namespace prism::cli {

/// What the user gives for a check.
struct CheckFiles {
  std::string options;  ///< values for the plugin's options, as in an experiment file; "": defaults
  std::vector<std::string> samples;  ///< files of one trace in the plugin's format
};

/// `candidate` must be Ok. Errors (Domain::Config): the file of options is no TOML, a sample is no
/// file.
Result<conformance::Subject> subject_of(const plugin::Candidate& candidate,
                                        const CheckFiles& files);

}  // namespace prism::cli
