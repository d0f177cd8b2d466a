// SPDX-License-Identifier: Apache-2.0
/// Whole small files. Messages name the path and the reason.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "core/base/status.hpp"

namespace prism {

/// Reads a regular file of at most `max_bytes`.
Result<std::string> read_file(const std::string& path, uint64_t max_bytes);

/// Replaces the file: readers see the old content or the new one, never a part. The content is on
/// disk when this returns.
Status write_file_atomically(const std::string& path, std::string_view content);

/// The same with content that `write` puts into the empty file that it is given.
Status replace_file(const std::string& path,
                    const std::function<Status(const std::string& unfinished)>& write);

/// Creates the folder and its parents.
Status make_folders(const std::string& path);

/// 16 hexadecimal digits of the XXH3 hash of `data`: tells changed inputs, no protection against
/// somebody who wants a collision.
std::string content_hash(std::string_view data);

/// "folder/name": `name` itself when it is absolute.
std::string join_path(std::string_view folder, std::string_view name);

}  // namespace prism
