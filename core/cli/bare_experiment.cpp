// SPDX-License-Identifier: Apache-2.0
#include "core/cli/bare_experiment.hpp"

#include <memory>
#include <optional>
#include <utility>

#include "core/config/toml_reader.hpp"

namespace prism::cli {

config::Experiment bare_experiment(const std::string& id, config::Table options) {
  config::Table of_plugin;
  of_plugin.members.push_back({id, {}, {std::move(options), {}, {}}});
  config::Table plugins;
  plugins.members.push_back({"options", {}, {std::move(of_plugin), {}, {}}});
  config::Table root;
  root.members.push_back({"plugins", {}, {std::move(plugins), {}, {}}});
  auto document = std::make_shared<config::Document>();
  document->root.data = std::move(root);
  config::Experiment experiment;
  experiment.document = document;
  return experiment;
}

Result<config::Table> option_words(const std::vector<std::string>& words) {
  config::Table table;
  for (const std::string& word : words) {
    const size_t sign = word.find('=');
    if (sign == std::string::npos || sign == 0) {
      return config_error("--option takes KEY=VALUE, not '" + word + "'");
    }
    const std::string key = word.substr(0, sign);
    if (table.find(key) != nullptr) {
      return config_error("--option " + key + " is given twice");
    }
    const std::string text = word.substr(sign + 1);
    const auto origin = config::Origin::CommandLine;
    std::optional<config::Value> value = config::parse_toml_value(text, origin);
    table.members.push_back({key, {}, value ? *std::move(value) : config::Value{text, {}, origin}});
  }
  return table;
}

}  // namespace prism::cli
