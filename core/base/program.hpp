// SPDX-License-Identifier: Apache-2.0
/// The running program among its files. Any thread.
#pragma once

#include <string>

namespace prism {

/// Path of the program's file; empty when /proc does not tell.
std::string program_file();

/// The folder that holds bin/ with the program, lib/ and share/: the same layout in a build tree
/// and where Prism is installed. Empty when /proc does not tell.
std::string program_prefix();

}  // namespace prism
