// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "core/base/json.hpp"
#include "core/cli/arguments.hpp"
#include "core/cli/commands.hpp"
#include "core/cli/table.hpp"
#include "core/plugin/registry.hpp"

namespace prism::cli {
namespace {

const Usage kList{"prism plugin list",
                  "[--json] [--paths]",
                  "The plugins beside the program, read from their manifests; none is loaded.",
                  {},
                  {{"json", "", "for programs"}, {"paths", "", "also where each one lies"}},
                  ""};

std::string state_text(const plugin::Candidate& candidate) {
  switch (candidate.state) {
    case plugin::State::Ok:
      return "ok";
    case plugin::State::Shadowed:
      return "shadowed: " + candidate.reason;
    case plugin::State::Incompatible:
      return "incompatible: " + candidate.reason;
    case plugin::State::Broken:
      return "broken: " + candidate.reason;
  }
  return "?";
}

std::string abi_text(const plugin::Manifest& manifest) {
  return std::to_string(manifest.abi_major) + "." + std::to_string(manifest.min_host_minor);
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    text += (text.empty() ? "" : ", ") + word;
  }
  return text;
}

std::string as_json(const std::vector<plugin::Candidate>& candidates) {
  std::string text;
  JsonWriter json(text);
  json.begin_object();
  json.key("plugins").begin_array();
  for (const plugin::Candidate& candidate : candidates) {
    json.begin_object();
    json.member("id", candidate.id);
    json.member("version", candidate.manifest.version);
    json.key("interfaces").begin_array();
    for (const std::string& interface : candidate.manifest.interfaces) {
      json.value(interface);
    }
    json.end_array();
    json.member("abi", abi_text(candidate.manifest));
    json.member("status", state_text(candidate));
    json.member("path", candidate.folder);
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return text;
}

int list(const Arguments& arguments) {
  const plugin::Registry registry({.overrides = {}, .roots = plugin::standard_roots()});
  const std::vector<plugin::Candidate> candidates = registry.list();
  if (arguments.has("json")) {
    std::printf("%s\n", as_json(candidates).c_str());
    return 0;
  }
  const bool paths = arguments.has("paths");
  Table table(paths
                  ? std::vector<std::string>{"id", "version", "interfaces", "abi", "status", "path"}
                  : std::vector<std::string>{"id", "version", "interfaces", "abi", "status"});
  for (const plugin::Candidate& candidate : candidates) {
    std::vector<std::string> row = {candidate.id, candidate.manifest.version,
                                    joined(candidate.manifest.interfaces),
                                    abi_text(candidate.manifest), state_text(candidate)};
    if (paths) {
      row.push_back(candidate.folder);
    }
    table.add(std::move(row));
  }
  std::fputs(table.to_string().c_str(), stdout);
  return 0;
}

}  // namespace

int plugin_command(const Words& words) {
  return run_subcommand("prism plugin", words, {{&kList, list}});
}

}  // namespace prism::cli
