// SPDX-License-Identifier: Apache-2.0
#include "tests/plugins/kineto/trace_text.hpp"

namespace prism::kineto::testing {

std::string input_path(const std::string& name) {
  return std::string(PRISM_SOURCE_DIR) + "/tests/plugins/kineto/inputs/" + name;
}

}  // namespace prism::kineto::testing
