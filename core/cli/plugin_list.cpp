// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <set>

#include "core/base/json.hpp"
#include "core/cli/plugin_commands.hpp"
#include "core/cli/plugin_describe.hpp"
#include "core/cli/plugin_probe.hpp"
#include "core/cli/plugin_search.hpp"
#include "core/cli/table.hpp"
#include "core/config/suggest.hpp"
#include "core/plugin/discovery.hpp"

namespace prism::cli {
namespace {

const Usage kList{
    "prism plugin list",
    "[options]",
    "The plugins that are found, in the order of the search, from their manifests alone: none is\n"
    "loaded. The first one that has an id is used.",
    {},
    with_search_flags({{"json", "", "for programs"},
                       {"paths", "", "also where each one lies"},
                       {"kind", "K", "only plugins of this kind: router, tensor_source, ..."},
                       {"probe", "", "load each one in a child process and say what goes wrong"}}),
    "Searched, first match wins: [plugins.path] of an experiment or --plugin, --plugin-path,\n"
    "PRISM_PLUGIN_PATH, ~/.local/share/prism/plugins/abi-1 (XDG_DATA_HOME), and the folder beside\n"
    "the program. Status: ok, shadowed, incompatible or broken, with the reason."};

using Candidates = std::vector<plugin::Candidate>;

bool has_kind(const plugin::Candidate& candidate, const std::string& kind) {
  const std::vector<std::string>& interfaces = candidate.manifest.interfaces;
  return std::any_of(interfaces.begin(), interfaces.end(),
                     [&](const std::string& id) { return kind_of(id) == kind; });
}

/// Keeps those of the kind. Errors: a kind that neither Prism nor any plugin has.
Status keep_kind(Candidates& candidates, const std::string& kind) {
  std::set<std::string> kinds = {"format", "launcher", "router", "runtime", "tensor_source"};
  for (const plugin::Candidate& candidate : candidates) {
    for (const std::string& interface : candidate.manifest.interfaces) {
      kinds.insert(kind_of(interface));
    }
  }
  if (kinds.count(kind) == 0) {
    const std::vector<std::string_view> names(kinds.begin(), kinds.end());
    const std::string hint = config::suggestion(kind, names);
    return config_error("--kind: there is no kind '" + kind + "'" +
                        (hint.empty() ? "" : "; " + hint));
  }
  std::erase_if(candidates, [&](const auto& candidate) { return !has_kind(candidate, kind); });
  return {};
}

void probe_all(Candidates& candidates, bool allow_insecure) {
  for (plugin::Candidate& candidate : candidates) {
    if (candidate.state != plugin::State::Ok) {
      continue;
    }
    const Result<std::string> probed = probe_plugin(candidate, Description::Text, allow_insecure);
    if (!probed.ok()) {
      candidate.state = plugin::State::Broken;
      candidate.reason = probed.status().message();
    }
  }
}

std::string as_json(const Candidates& candidates) {
  std::string text;
  JsonWriter json(text);
  json.begin_object();
  json.key("plugins").begin_array();
  for (const plugin::Candidate& candidate : candidates) {
    json.begin_object();
    write_identity(json, candidate);
    json.key("interfaces").begin_array();
    for (const std::string& interface : candidate.manifest.interfaces) {
      json.value(interface);
    }
    json.end_array();
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return text + "\n";
}

std::string as_table(const Candidates& candidates, bool paths) {
  std::vector<std::string> header = {"id", "version", "kind", "abi", "status"};
  if (paths) {
    header.push_back("path");
  }
  Table table(std::move(header), Table::Align::Left);
  for (const plugin::Candidate& candidate : candidates) {
    std::string kinds;
    for (const std::string& interface : candidate.manifest.interfaces) {
      kinds += (kinds.empty() ? "" : ", ") + kind_of(interface);
    }
    // A message of several lines would break the table; `plugin show` has all of it.
    std::string status = state_text(candidate);
    status.resize(std::min(status.find('\n'), status.size()));
    std::vector<std::string> row = {candidate.id, candidate.manifest.version, std::move(kinds),
                                    abi_text(candidate.manifest), std::move(status)};
    if (paths) {
      row.push_back(candidate.folder);
    }
    table.add(std::move(row));
  }
  return table.to_string();
}

int list(const Arguments& arguments) {
  const Result<plugin::SearchPath> path = search_path(arguments);
  if (!path.ok()) {
    return report_error(path.status());
  }
  Candidates candidates = plugin::discover(*path);
  if (arguments.has("kind")) {
    if (const Status status = keep_kind(candidates, arguments.at("kind")); !status.ok()) {
      return report_error(status);
    }
  }
  if (arguments.has("probe")) {
    probe_all(candidates, path->allow_insecure);
  }
  const std::string text =
      arguments.has("json") ? as_json(candidates) : as_table(candidates, arguments.has("paths"));
  std::fputs(text.c_str(), stdout);
  return 0;
}

}  // namespace

Subcommand plugin_list_command() {
  return {&kList, list};
}

}  // namespace prism::cli
