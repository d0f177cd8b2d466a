// SPDX-License-Identifier: Apache-2.0
// S2: the plugin is what its manifest says.
#include <algorithm>

#include "prism/host/bind.hpp"
#include "sdk/conformance/library.hpp"
#include "sdk/conformance/suite.hpp"

namespace prism::conformance {
namespace {

bool listed(const Subject& subject, std::string_view id) {
  return std::find(subject.interfaces.begin(), subject.interfaces.end(), id) !=
         subject.interfaces.end();
}

void entry(Context& context) {
  Library library(context);
  const prism_plugin_t& first = library.entry();
  const prism_plugin_t& second = library.entry();
  require(&first == &second, PRISM_PLUGIN_ENTRY " returns another table each time");
}

void table(Context& context) {
  Library library(context);
  const std::string problem =
      host::check_plugin(&library.entry(), !context.subject().drafts.empty());
  require(problem.empty(), problem);
}

void manifest(Context& context) {
  const Subject& subject = context.subject();
  Library library(context);
  const std::string id = host::clean_text(library.entry().id);
  const std::string version = host::clean_text(library.entry().version);
  require(id == subject.id, "its manifest says id '" + subject.id + "', its library '" + id + "'");
  require(version == subject.version,
          "its manifest says version " + subject.version + ", its library " + version);
}

void init(Context& context) {
  const Plugin plugin(context);
}

void interfaces(Context& context) {
  Plugin plugin(context);
  for (const std::string& id : context.subject().interfaces) {
    const std::string problem = host::check_interface(id, plugin.get_interface(id));
    require(problem.empty(), problem);
    const void* table = plugin.get_interface(id);
    require(table == plugin.get_interface(id), "its " + id + " is another table each time");
  }
}

void unlisted(Context& context) {
  Plugin plugin(context);
  const Subject& subject = context.subject();
  for (const char* id : host::kInterfaces) {
    require(listed(subject, id) || plugin.get_interface(id) == nullptr,
            std::string("it offers ") + id + ", which its manifest does not list");
  }
  std::vector<std::string> bogus = {"",
                                    "x",
                                    "prism",
                                    "prism.unheard_of/1",
                                    std::string(100'000, 'a'),
                                    std::string("\0", 1),
                                    "\xff\xfe",
                                    "com.example.bogus/1"};
  for (const std::string& id : subject.interfaces) {
    bogus.push_back(id + "0");
    bogus.push_back(id + std::string("\0", 1));
    bogus.push_back(id.substr(0, id.size() - 1));
    bogus.push_back("x" + id);
    std::string other_case = id;
    other_case[0] = static_cast<char>(other_case[0] ^ 0x20);
    bogus.push_back(other_case);
  }
  for (const std::string& id : bogus) {
    // A copy of its own length: reading on behind it is not for free.
    const std::vector<char> exact(id.begin(), id.end());
    const std::string shown = host::clean_text({id.data(), std::min<size_t>(id.size(), 40)});
    require(plugin.get_interface({exact.data(), exact.size()}) == nullptr,
            "it offers an interface under the name '" + shown + "', which there is not");
  }
}

}  // namespace

void add_identity_tests(Suite& suite) {
  suite.push_back({"S2.entry",
                   "prism_plugin_v1 is its own and returns the same table each time.",
                   entry,
                   {"S1.load"}});
  suite.push_back(
      {"S2.table", "The table is complete and for this plugin ABI.", table, {"S2.entry"}});
  suite.push_back({"S2.manifest",
                   "The table has the id and the version of the manifest.",
                   manifest,
                   {"S2.table"}});
  suite.push_back({"S2.init", "init succeeds.", init, {"S2.table"}});
  suite.push_back({"S2.interfaces",
                   "Every interface of the manifest is there, complete.",
                   interfaces,
                   {"S2.init"}});
  suite.push_back({"S2.unlisted",
                   "There is no interface that the manifest does not list.",
                   unlisted,
                   {"S2.init"}});
}

}  // namespace prism::conformance
