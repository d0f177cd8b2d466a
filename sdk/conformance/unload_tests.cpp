// SPDX-License-Identifier: Apache-2.0
// S10: the end. Prism never unloads a plugin, but others may, and every process ends.
#include <dlfcn.h>

#include "sdk/conformance/library.hpp"
#include "sdk/conformance/process.hpp"
#include "sdk/conformance/suite.hpp"

namespace prism::conformance {
namespace {

void ends(Context& context) {
  Plugin plugin(context);
  plugin.deinit();
  context.doing("ending the process, with the library's destructors");
}

void unload(Context& context) {
  Plugin plugin(context);
  plugin.deinit();
  context.doing("unloading the library");
  dlclose(plugin.handle());
  if (is_mapped(context.subject().library)) {
    const FileReading reading = context.subject().read_file(context.subject().library);
    const size_t unique = reading.facts.unique_symbols.size();
    warn("stays in memory after it was closed" +
         (unique == 0 ? std::string()
                      : "; it has " + std::to_string(unique) +
                            " symbols of the kind GNU_UNIQUE: build it with -fno-gnu-unique"));
  }
}

}  // namespace

void add_unload_tests(Suite& suite) {
  suite.push_back({"S10.end", "The process ends in order after deinit.", ends, {"S2.init"}});
  suite.back().leaves_by_exit = true;
  suite.push_back({"S10.unload", "The library can be unloaded after deinit.", unload, {"S10.end"}});
}

}  // namespace prism::conformance
