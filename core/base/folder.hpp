// SPDX-License-Identifier: Apache-2.0
/// Whole folders of files. Messages name the path and the reason.
#pragma once

#include <functional>
#include <string>

#include "core/base/status.hpp"

namespace prism {

/// Replaces the folder: readers see the old one or the new one, never a part. `write` puts files
/// into the empty folder that it is given; they are on disk when this returns. A folder that is
/// there already is replaced only if all that it has is replaced: whatever else is in it, nobody
/// meant to lose.
Status replace_folder(const std::string& path,
                      const std::function<Status(const std::string& unfinished)>& write);

}  // namespace prism
