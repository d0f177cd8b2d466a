// SPDX-License-Identifier: Apache-2.0
/// Calls plugins in a process of its own first, so that one that crashes, hangs, prints or ends its
/// process is named and takes down nothing else.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "core/base/status.hpp"

namespace prism::cli {

/// Runs `body` in a forked child without terminal, log and core files, with limits on memory and
/// files, and returns the text that it returns. What the child leaves running is ended. Errors
/// (Domain::Plugin): the child ended before `body` came back, with the plugin and the function that
/// was running and how it ended; `whom` is named where no function was.
Result<std::string> try_in_child(const std::string& whom, std::chrono::milliseconds timeout,
                                 const std::function<std::string()>& body);

}  // namespace prism::cli
