// SPDX-License-Identifier: Apache-2.0
// S0: what the files say, before anything is loaded.
#include <algorithm>
#include <iterator>

#include "prism/abi/plugin.h"
#include "sdk/conformance/suite.hpp"

namespace prism::conformance {
namespace {

std::string joined(const std::vector<std::string>& words) {
  constexpr size_t kShown = 8;
  std::string text;
  for (size_t i = 0; i < std::min(words.size(), kShown); ++i) {
    text += (i == 0 ? "" : ", ") + words[i];
  }
  return words.size() <= kShown ? text
                                : text + " and " + std::to_string(words.size() - kShown) + " more";
}

FileFacts facts_of(const Context& context, const std::string& path) {
  const FileReading reading = context.subject().read_file(path);
  require(reading.problem.empty(), reading.problem);
  return reading.facts;
}

void elf(Context& context) {
  const FileFacts facts = facts_of(context, context.subject().library);
  require(facts.shared_library, "is no shared library; build it with prism_add_plugin");
  require(facts.this_machine, "is built for another kind of processor");
}

void exports(Context& context) {
  const FileFacts facts = facts_of(context, context.subject().library);
  std::vector<std::string> surplus;
  bool entry = false;
  for (const std::string& symbol : facts.exports) {
    if (symbol == PRISM_PLUGIN_ENTRY) {
      entry = true;
    } else {
      surplus.push_back(symbol);
    }
  }
  require(entry, "does not export " PRISM_PLUGIN_ENTRY "; use PRISM_PLUGIN and prism_add_plugin");
  require(surplus.empty(), "exports " + joined(surplus) +
                               " beside " PRISM_PLUGIN_ENTRY
                               ", which may clash with other libraries; hide it, as "
                               "prism_add_plugin does");
}

void search_path(Context& context) {
  const FileFacts facts = facts_of(context, context.subject().library);
  for (const std::string& folder : facts.search_paths) {
    require(folder.rfind("$ORIGIN", 0) == 0 || folder.rfind("${ORIGIN}", 0) == 0,
            "looks for libraries in '" + folder +
                "', a folder of the machine that it was built on; use $ORIGIN");
  }
}

void stack(Context& context) {
  const FileFacts facts = facts_of(context, context.subject().library);
  require(!facts.executable_stack,
          "asks for an executable stack; an assembler file without a .note.GNU-stack section, or "
          "a nested function of C, does that");
}

void needed(Context& context) {
  const FileFacts facts = facts_of(context, context.subject().library);
  for (const std::string& library : facts.needed) {
    require(
        library.rfind("libprism_core", 0) != 0,
        "is linked to " + library + "; a plugin uses the SDK's headers and nothing of the core");
    if (library.rfind("libpython", 0) == 0) {
      warn("is linked to " + library +
           "; an interpreter inside Prism clashes with that of the job: run it as a process");
    }
  }
  context.note("needs " + joined(facts.needed) +
               (facts.versions.empty() ? "" : "; newest versions " + joined(facts.versions)));
}

void companions(Context& context) {
  for (const Companion& companion : context.subject().companions) {
    const FileFacts facts = facts_of(context, companion.file);
    const std::string name = companion.file.substr(companion.file.rfind('/') + 1);
    require(facts.this_machine, name + " is built for another kind of processor");
    if (!facts.shared_library) {
      continue;  // a program: nobody looks up its symbols
    }
    std::vector<std::string> expected = companion.exports;
    std::sort(expected.begin(), expected.end());
    std::vector<std::string> lost;
    std::vector<std::string> surplus;
    std::set_difference(expected.begin(), expected.end(), facts.exports.begin(),
                        facts.exports.end(), std::back_inserter(lost));
    std::set_difference(facts.exports.begin(), facts.exports.end(), expected.begin(),
                        expected.end(), std::back_inserter(surplus));
    require(lost.empty(), name + " lacks " + joined(lost) + ", which the manifest promises");
    require(surplus.empty(), name + " exports " + joined(surplus) +
                                 ", which the manifest does not list; set its target property "
                                 "PRISM_EXPORTS");
  }
}

}  // namespace

void add_file_tests(Suite& suite, const Subject& subject) {
  suite.push_back({"S0.elf", "The file is a shared library for this machine.", elf, {}});
  suite.push_back(
      {"S0.exports", "It exports prism_plugin_v1 and nothing else.", exports, {"S0.elf"}});
  suite.push_back({"S0.search_path",
                   "It looks for libraries beside itself and where the system does.",
                   search_path,
                   {"S0.elf"}});
  suite.push_back({"S0.stack", "Its stack is not executable.", stack, {"S0.elf"}});
  suite.push_back(
      {"S0.needed", "It is not linked to the core of Prism, nor to Python.", needed, {"S0.elf"}});
  if (!subject.companions.empty()) {
    suite.push_back(
        {"S0.companions", "Its companions export what the manifest lists.", companions, {}});
  }
}

}  // namespace prism::conformance
