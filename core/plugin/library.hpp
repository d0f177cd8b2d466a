// SPDX-License-Identifier: Apache-2.0
/// Opens a plugin's shared library. The only place with Boost.DLL is library.cpp.
#pragma once

#include <string>

#include "core/base/status.hpp"
#include "prism/abi/plugin.h"

namespace prism::plugin {

/// Opens `path` (absolute) with all symbols bound at once and none visible to others, and calls its
/// prism_plugin_v1, which must be defined in that very file. The library is never closed again, not
/// even when the process ends: its code may still be on some thread or in some handler.
/// Errors (Domain::Plugin) name the file, and the symbol or library that is missing and who needs
/// it; they end the sentence "plugin 'x' cannot be loaded: ...".
Result<const prism_plugin_t*> open_plugin_library(const std::string& path);

}  // namespace prism::plugin
