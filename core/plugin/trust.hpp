// SPDX-License-Identifier: Apache-2.0
/// Whether only people who could change this program anyway can change a plugin. Any thread.
#pragma once

#include <string>

namespace prism::plugin {

/// Why the file or folder (symbolic links are followed) must not be loaded from: everybody may
/// write to it, or its owner is neither root, nor this user, nor the owner of the running program.
/// Empty when it may, and when it cannot be looked at: opening it will then say why.
std::string why_untrusted(const std::string& path);

}  // namespace prism::plugin
