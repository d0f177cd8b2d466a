// SPDX-License-Identifier: Apache-2.0
/// Reads what a shared library needs and offers, without loading it: for messages that say who
/// needs what, and for checks of the file.
#pragma once

#include <string>
#include <vector>

#include "core/base/status.hpp"
#include "sdk/conformance/subject.hpp"

namespace prism::plugin {

struct Dependencies {
  std::vector<std::string> needed;        ///< names of libraries, DT_NEEDED
  std::vector<std::string> search_paths;  ///< DT_RUNPATH or DT_RPATH, $ORIGIN replaced
};

/// Of a 64-bit little-endian ELF file; every offset in it is checked. Domain::Plugin.
Result<Dependencies> read_dependencies(const std::string& path);

/// All that the check of a plugin asks of an ELF file. Errors as read_dependencies().
Result<conformance::FileFacts> read_file_facts(const std::string& path);

/// The file among `path` and what it needs, directly or not, that needs the library `name`; empty
/// when none of those that can be found does.
std::string who_needs(const std::string& path, const std::string& name);

}  // namespace prism::plugin
