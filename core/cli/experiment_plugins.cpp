// SPDX-License-Identifier: Apache-2.0
#include "core/cli/experiment_plugins.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/text.hpp"
#include "core/cli/plugin_describe.hpp"
#include "core/cli/plugin_probe.hpp"
#include "core/config/plugin_options.hpp"
#include "core/config/suggest.hpp"
#include "core/plugin/adapters.hpp"
#include "prism/abi/draft/launcher.h"
#include "prism/abi/draft/runtime.h"
#include "prism/abi/router.h"
#include "prism/abi/tensor_source.h"

namespace prism::cli {
namespace {

using config::Diagnostics;
using config::ErrorCode;
using config::Value;
using plugin::Candidate;

/// What the file has at these keys; null where it has nothing.
const Value* find(const Value* at, std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) {
    at = at != nullptr && at->table() != nullptr ? at->table()->find(key) : nullptr;
  }
  return at;
}

class PluginCheck {
 public:
  PluginCheck(const std::vector<Candidate>& candidates, Diagnostics& diagnostics)
      : candidates_(candidates), diagnostics_(diagnostics) {}

  /// `written`: where the file names the plugin; null for a default.
  void need(const std::string& id, const std::string& interface, const Value* written) {
    const auto found = std::find_if(candidates_.begin(), candidates_.end(),
                                    [&](const Candidate& c) { return c.id == id; });
    if (found == candidates_.end()) {
      tell(ErrorCode::Plugin, written, "no plugin '" + printable(id) + "'",
           suggestion(id, interface));
    } else if (found->state != plugin::State::Ok) {
      tell(ErrorCode::Plugin, written,
           "plugin '" + id + "' in " + found->folder + " cannot be used: " + found->reason, "");
    } else if (!found->manifest.offers(interface)) {
      tell(ErrorCode::Plugin, written,
           "plugin '" + id + "' is no " + kind_of(interface) + ": it has no " + interface,
           suggestion(id, interface));
    }
  }

  void tell(ErrorCode code, const Value* written, std::string message, std::string hint) {
    config::Diagnostic d;
    d.code = code;
    d.message = std::move(message);
    d.hint = std::move(hint);
    if (written != nullptr) {
      d.span = written->span;
      d.origin = written->origin;
    }
    diagnostics_.add(std::move(d));
  }

 private:
  std::string suggestion(const std::string& id, const std::string& interface) const {
    std::vector<std::string_view> ids;
    for (const Candidate& candidate : candidates_) {
      if (candidate.state == plugin::State::Ok && candidate.manifest.offers(interface)) {
        ids.push_back(candidate.id);
      }
    }
    return config::suggestion(id, ids);
  }

  const std::vector<Candidate>& candidates_;
  Diagnostics& diagnostics_;
};

}  // namespace

void check_plugins(const config::Experiment& experiment, const std::vector<Candidate>& candidates,
                   Diagnostics& diagnostics) {
  const config::Experiment::Plugins& plugins = experiment.plugins;
  const Value* root = &experiment.document->root;
  PluginCheck check(candidates, diagnostics);
  check.need(plugins.runtime, PRISM_RUNTIME_1, find(root, {"plugins", "runtime"}));
  check.need(plugins.launcher, PRISM_LAUNCHER_1, find(root, {"plugins", "launcher"}));
  if (plugins.router) {
    check.need(*plugins.router, PRISM_ROUTER_1, find(root, {"plugins", "router"}));
  }
  for (const config::CollectRule& rule : experiment.collect.rules) {
    check.need(rule.source, PRISM_TENSOR_SOURCE_1, find(rule.options, {"id"}));
  }
  for (const std::string_view id : config::plugin_option_ids(experiment)) {
    if (id == plugins.runtime || id == plugins.launcher || id == plugins.router) {
      continue;
    }
    const bool is_source =
        std::any_of(experiment.collect.rules.begin(), experiment.collect.rules.end(),
                    [&](const config::CollectRule& rule) { return rule.source == id; });
    const std::vector<std::string_view> used = {plugins.runtime, plugins.launcher,
                                                plugins.router ? *plugins.router : plugins.runtime};
    check.tell(ErrorCode::UnknownTable, find(root, {"plugins", "options", id}),
               "[plugins.options." + config::write_key(id) + "]: " +
                   (is_source ? "a tensor source has no options here"
                              : "this experiment uses no plugin of that id"),
               is_source ? "write them beside its id: source = { id = " + config::quote(id) +
                               ", ... } of the [[collect.rule]]"
                         : config::suggestion(id, used));
  }
}

Status try_plugins(const config::Experiment& experiment, const plugin::Registry& registry) {
  const config::Experiment::Plugins& plugins = experiment.plugins;
  std::set<std::string> ids = {plugins.launcher, plugins.runtime};
  if (plugins.router) {
    ids.insert(*plugins.router);
  }
  for (const config::CollectRule& rule : experiment.collect.rules) {
    ids.insert(rule.source);
  }
  for (const std::string& id : ids) {
    PRISM_TRY_ASSIGN(const Candidate found, registry.find(id));
    auto survived = probe_plugin(found, Description::Text, /*allow_insecure=*/true);
    if (!survived.ok()) {
      return std::move(survived).status().context("trying the plugin '" + id +
                                                  "' in a process of its own");
    }
  }
  return {};
}

Status check_plugin_options(const config::Experiment& experiment, plugin::Registry& registry,
                            Diagnostics& diagnostics) {
  const auto check = [&](const std::string& id, const char* interface, auto validate) -> Status {
    PRISM_TRY_ASSIGN(const prism_option_table_t table, plugin::options(registry, id, interface));
    const size_t before = diagnostics.total();
    Result<config::PluginOptions> options = validate(table);
    return options.ok() || diagnostics.total() > before ? Status() : std::move(options).status();
  };
  const auto check_own = [&](const std::string& id, const char* interface) {
    return check(id, interface, [&](const prism_option_table_t& table) {
      return config::validate_plugin_options(experiment, id, table, diagnostics);
    });
  };
  const config::Experiment::Plugins& plugins = experiment.plugins;
  PRISM_TRY(check_own(plugins.runtime, PRISM_RUNTIME_1));
  PRISM_TRY(check_own(plugins.launcher, PRISM_LAUNCHER_1));
  if (plugins.router) {
    PRISM_TRY(check_own(*plugins.router, PRISM_ROUTER_1));
  }
  for (const config::CollectRule& rule : experiment.collect.rules) {
    PRISM_TRY(check(rule.source, PRISM_TENSOR_SOURCE_1, [&](const prism_option_table_t& table) {
      return config::validate_source_options(experiment, rule, table, diagnostics);
    }));
  }
  return {};
}

}  // namespace prism::cli
