// SPDX-License-Identifier: Apache-2.0
/// What the guard needs to start a process, as it lies in the memfd of a Spawn request: argument
/// lists are too large for a message.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace prism::local {

inline constexpr size_t kMaxLaunchBytes = size_t{8} << 20;

struct LaunchRequest {
  std::string cwd;
  std::vector<std::string> argv;
  std::vector<std::string> env;
  std::vector<uint32_t> cores;
  std::vector<int32_t> fd_targets;  ///< numbers, in the child, of the mapped descriptors
};

/// Strings must not contain NUL.
std::string encode(const LaunchRequest& request);

/// Nothing when the bytes are no request: wrong counts, something cut or left over, empty argv.
std::optional<LaunchRequest> decode(std::string_view bytes);

}  // namespace prism::local
