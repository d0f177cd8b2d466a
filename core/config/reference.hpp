// SPDX-License-Identifier: Apache-2.0
/// The reference page of the experiment file, docs/experiment-file.md, from the tables of options.
#pragma once

#include <string>

namespace prism::config {

/// Markdown.
std::string reference_page();

}  // namespace prism::config
