// SPDX-License-Identifier: Apache-2.0
#include "core/cli/plugin_probe.hpp"

#include <vector>

#include "core/cli/plugin_describe.hpp"
#include "core/cli/plugin_trial.hpp"
#include "core/plugin/registry.hpp"
#include "prism/host/bind.hpp"

namespace prism::cli {
namespace {

constexpr std::chrono::seconds kTimeout{10};

// The child's answer begins with one of these.
constexpr std::string_view kLoaded = "loaded\n";
constexpr std::string_view kFailed = "failed\n";

Result<std::string> describe(const plugin::Candidate& candidate, Description description,
                             bool allow_insecure) {
  plugin::Registry registry({.overrides = {},
                             .roots = {},
                             .folders = {candidate.folder},
                             .allow_insecure = allow_insecure});
  PRISM_TRY_ASSIGN(const plugin::LoadedPlugin* loaded, registry.load(candidate.id));
  std::vector<DescribedInterface> interfaces;
  for (const std::string& id : candidate.manifest.interfaces) {
    PRISM_TRY_ASSIGN(
        config::OptionRows rows,
        config::read_option_rows(candidate.id, host::interface_options(id, loaded->interface(id))));
    interfaces.push_back({id, std::move(rows)});
  }
  return description == Description::Json ? describe_json(candidate, interfaces)
                                          : describe_text(candidate, interfaces);
}

}  // namespace

Result<std::string> probe_plugin(const plugin::Candidate& candidate, Description description,
                                 bool allow_insecure) {
  const std::string whom = "plugin '" + candidate.id + "' (" + candidate.manifest.library + " " +
                           candidate.manifest.version + ")";
  PRISM_TRY_ASSIGN(const std::string answer, try_in_child(whom, kTimeout, [&] {
                     const Result<std::string> described =
                         describe(candidate, description, allow_insecure);
                     return described.ok() ? std::string(kLoaded) + *described
                                           : std::string(kFailed) + described.status().to_string();
                   }));
  return answer.starts_with(kLoaded) ? Result<std::string>(answer.substr(kLoaded.size()))
                                     : plugin_error(answer.substr(kFailed.size()));
}

}  // namespace prism::cli
