// SPDX-License-Identifier: Apache-2.0
/// The Python that will run the job, and the torch in it.
#pragma once

#include <string>

#include "plugins/torch/environment.hpp"

namespace prism::torch_runtime {

struct Python {
  std::string program;  ///< absolute
  std::string version;
  std::string torch;  ///< version; empty: not installed
};

/// The program `name` in the PATH of `env`, absolute. A name with a slash is taken as it is.
/// Throws sdk::Error FAILED_PRECONDITION when there is none.
std::string find_program(const std::string& name, const Environment& env);

/// Asks `program` under `env`, without importing torch; takes a fraction of a second.
/// Throws sdk::Error FAILED_PRECONDITION when it does not answer.
Python inspect(const std::string& program, const Environment& env);

}  // namespace prism::torch_runtime
