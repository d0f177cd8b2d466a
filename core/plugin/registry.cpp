// SPDX-License-Identifier: Apache-2.0
#include "core/plugin/registry.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "core/base/log.hpp"
#include "core/config/suggest.hpp"
#include "core/plugin/library.hpp"
#include "prism/host/bind.hpp"
#include "prism/host/call_notes.hpp"
#include "prism/host/sinks.hpp"

namespace prism::plugin {
namespace {

std::string name_of(const Candidate& candidate) {
  const Manifest& m = candidate.manifest;
  return "plugin '" + candidate.id + "' (" + m.library + " " + m.version + ")";
}

std::vector<Candidate>::const_iterator first_of(const std::vector<Candidate>& candidates,
                                                std::string_view id) {
  return std::find_if(candidates.begin(), candidates.end(),
                      [&](const Candidate& candidate) { return candidate.id == id; });
}

/// How it was built and what it asks for: helps to see why loading failed.
std::string background(const Manifest& m) {
  std::string text;
  if (!m.compiler.empty()) {
    text += "\n  it was built with " + m.compiler;
  }
  for (const auto& [what, version] : m.requirements) {
    text.append("\n  it requires ").append(what).append(" ").append(version);
  }
  return text;
}

/// Whether the binary is the one that the manifest describes.
std::string compare(const Manifest& manifest, const prism_plugin_t& table) {
  const std::string id = host::clean_text(table.id);
  const std::string version = host::clean_text(table.version);
  if (id != manifest.id) {
    return "its manifest says id '" + manifest.id + "', its library '" + id + "'";
  }
  if (version != manifest.version) {
    return "its manifest says version " + manifest.version + ", its library " + version;
  }
  return {};
}

// Handed to plugins, which may keep pointers into it until the process is gone.
LoadedPlugin* immortal(Candidate candidate, const prism_plugin_t* table) {
  static auto* all = new std::vector<std::unique_ptr<LoadedPlugin>>;
  all->push_back(std::make_unique<LoadedPlugin>(std::move(candidate), table));
  return all->back().get();
}

}  // namespace

std::string LoadedPlugin::name() const {
  return name_of(candidate_);
}

const void* LoadedPlugin::interface(std::string_view id) const {
  return manifest().offers(id) ? table_->get_interface({id.data(), id.size()}) : nullptr;
}

Result<Candidate> Registry::find(std::string_view id) const {
  const std::vector<Candidate> candidates = discover(path_);
  const auto found = first_of(candidates, id);
  if (found == candidates.end()) {
    return not_found(id, candidates);
  }
  return *found;
}

Result<const LoadedPlugin*> Registry::load(std::string_view id) {
  for (const LoadedPlugin* plugin : loaded_) {
    if (plugin->manifest().id == id) {
      return plugin;
    }
  }
  const std::vector<Candidate> candidates = discover(path_);
  const auto found = first_of(candidates, id);
  if (found == candidates.end()) {
    return not_found(id, candidates);
  }
  if (found->state != State::Ok) {
    return plugin_error("plugin '" + found->id + "' in " + found->folder +
                        " cannot be used: " + found->reason + background(found->manifest));
  }
  for (const Candidate& other : candidates) {
    if (other.state == State::Shadowed && other.id == id) {
      log::warn("plugin '" + other.id + "' is taken from " + found->folder + "; the one in " +
                other.folder + " is shadowed");
    }
  }

  const auto unusable = [&](const std::string& why) {
    return plugin_error(name_of(*found) + " cannot be used: " + why);
  };
  if (!path_.allow_insecure) {
    if (const std::string why = why_untrusted_libraries(*found); !why.empty()) {
      return unusable(why);
    }
  }
  const Result<const prism_plugin_t*> table = [&] {
    const host::NotedCall call(name_of(*found), "loading it, " PRISM_PLUGIN_ENTRY);
    return open_plugin_library(found->library());
  }();
  if (!table.ok()) {
    return plugin_error(name_of(*found) + " cannot be loaded: " +
                        std::string(table.status().message()) + background(found->manifest));
  }
  const bool uses_drafts = !found->manifest.drafts.empty();
  if (const std::string why = host::check_plugin(*table, uses_drafts); !why.empty()) {
    return unusable(why);
  }
  if (const std::string why = compare(found->manifest, **table); !why.empty()) {
    return unusable(why + "; they belong to different builds");
  }
  LoadedPlugin* plugin = immortal(*found, *table);
  if ((*table)->init != nullptr) {
    const host::ErrorSink error;
    const host::NotedCall call(plugin->name(), "init");
    const prism_status_t status = (*table)->init(plugin->host_.c(), error.c());
    if (status != PRISM_STATUS_OK) {
      return plugin_error(plugin->name() + ": init(): " + error.message(status));
    }
  }
  loaded_.push_back(plugin);
  for (const std::string& interface : found->manifest.interfaces) {
    const std::string why = host::check_interface(interface, plugin->interface(interface));
    if (!why.empty()) {
      loaded_.pop_back();
      if ((*table)->deinit != nullptr) {
        const host::NotedCall call(plugin->name(), "deinit");
        (*table)->deinit();
      }
      return unusable(why);
    }
  }
  return plugin;
}

void Registry::shutdown() {
  while (!loaded_.empty()) {
    const LoadedPlugin* plugin = loaded_.back();
    loaded_.pop_back();
    if (plugin->table_->deinit != nullptr) {
      const host::NotedCall call(plugin->name(), "deinit");
      plugin->table_->deinit();
    }
  }
}

Status Registry::not_found(std::string_view id, const std::vector<Candidate>& candidates) const {
  std::vector<std::string_view> ids;
  for (const Candidate& candidate : candidates) {
    if (candidate.state == State::Ok) {
      ids.push_back(candidate.id);
    }
  }
  std::string message = "no plugin '" + std::string(id) + "'";
  if (const std::string hint = config::suggestion(id, ids); !hint.empty()) {
    message += "; " + hint;
  }
  return plugin_error(message + "\n" + places(candidates), Code::NotFound);
}

std::string Registry::places(const std::vector<Candidate>& candidates) const {
  std::vector<std::string> lines;
  for (const std::string& folder : path_.folders) {
    lines.push_back("searched: " + folder);
  }
  for (const auto& [name, folder] : path_.overrides) {
    lines.push_back("searched: " + folder + " (for '" + name + "')");
  }
  for (const std::string& root : path_.roots) {
    std::error_code error;
    const std::filesystem::directory_iterator open(root, error);
    lines.push_back("searched: " + root + (error ? " (" + error.message() + ")" : ""));
  }
  for (const Candidate& candidate : candidates) {
    if (candidate.state != State::Ok && candidate.state != State::Shadowed) {
      lines.push_back("rejected: " + candidate.folder + ": " + candidate.reason);
    }
  }
  std::string text;
  for (const std::string& line : lines) {
    text += (text.empty() ? "  " : "\n  ") + line;
  }
  return text;
}

}  // namespace prism::plugin
