// SPDX-License-Identifier: Apache-2.0
#include "tests/plugins/formats/format_plugin.hpp"

namespace prism::formats_test {

host::LibraryPlace plugin_place(const std::string& id) {
  const std::string path = std::string(PRISM_PLUGIN_ROOT) + "/" + id + "/libprism_" + id + ".so";
  return {id, path, host::library_hash(path)};
}

}  // namespace prism::formats_test
