// SPDX-License-Identifier: Apache-2.0
/// Whether only people who could change this program anyway can change a plugin: root, this user
/// and the owner of the running program. Thread: [control].
#pragma once

#include <string>

namespace prism::plugin {

/// Why the absolute path of a file or folder must not be loaded from: somebody else may write to
/// it, or owns it; or may replace it, since he may write to a folder above it, without sticky bit,
/// or owns that. Empty when it may, and when it cannot be looked at: opening it will then say why.
std::string why_untrusted(const std::string& path);

/// The same of a library and all that it needs and finds through its own RUNPATH, $ORIGIN say.
/// Reads ELF files.
std::string why_untrusted_library(const std::string& library);

}  // namespace prism::plugin
