// SPDX-License-Identifier: Apache-2.0
#include "core/cli/plugin_check_subject.hpp"

#include <filesystem>
#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include "core/base/program.hpp"
#include "core/config/plugin_options.hpp"
#include "core/config/toml_reader.hpp"
#include "core/plugin/elf.hpp"

namespace prism::cli {
namespace {

/// An experiment of which only the options of plugins are there.
Result<config::Experiment> options_experiment(const std::string& file) {
  auto source = std::make_shared<const config::Source>(file, "");
  if (!file.empty()) {
    auto read = config::read_source(file);
    if (const auto* diagnostics = std::get_if<config::Diagnostics>(&read)) {
      return diagnostics->status();
    }
    source = std::get<0>(std::move(read));
  }
  auto parsed = config::parse_toml(source);
  if (const auto* diagnostics = std::get_if<config::Diagnostics>(&parsed)) {
    return diagnostics->status();
  }
  config::Experiment experiment;
  experiment.file = file;
  experiment.document = std::make_shared<const config::Document>(
      config::Document{std::move(source), std::get<config::Value>(std::move(parsed))});
  return experiment;
}

/// Validates values for a table as `prism run` does; keeps the texts of the last ones.
class OptionReader {
 public:
  OptionReader(std::string id, config::Experiment experiment)
      : id_(std::move(id)), experiment_(std::move(experiment)) {}

  std::string read(const prism_option_table_t& table, std::vector<prism_option_value_t>& values) {
    config::Diagnostics diagnostics(experiment_.document->source);
    Result<config::PluginOptions> options =
        config::validate_plugin_options(experiment_, id_, table, diagnostics);
    if (!options.ok()) {
      return diagnostics.empty() ? std::string(options.status().message())
                                 : diagnostics.shown().front().message;
    }
    last_.emplace(std::move(options).value());
    values = last_->abi();
    return {};
  }

 private:
  std::string id_;
  config::Experiment experiment_;
  std::optional<config::PluginOptions> last_;
};

conformance::FileReading read_file(const std::string& path) {
  Result<conformance::FileFacts> facts = plugin::read_file_facts(path);
  if (!facts.ok()) {
    return {{}, std::string(facts.status().message())};
  }
  return {std::move(facts).value(), {}};
}

}  // namespace

Result<conformance::Subject> subject_of(const plugin::Candidate& candidate,
                                        const std::string& options_file) {
  std::string options;
  if (!options_file.empty()) {
    std::error_code error;
    options = std::filesystem::absolute(options_file, error).string();
  }
  PRISM_TRY_ASSIGN(config::Experiment experiment, options_experiment(options));
  const auto reader = std::make_shared<OptionReader>(candidate.id, std::move(experiment));
  conformance::Subject subject;
  subject.library = candidate.library();
  subject.id = candidate.id;
  subject.version = candidate.manifest.version;
  subject.interfaces = candidate.manifest.interfaces;
  subject.drafts = candidate.manifest.drafts;
  for (const plugin::Companion& companion : candidate.manifest.companions) {
    subject.companions.push_back({candidate.folder + "/" + companion.file, companion.exports});
  }
  subject.read_file = read_file;
  subject.read_options = [reader](const prism_option_table_t& table,
                                  std::vector<prism_option_value_t>& values) {
    return reader->read(table, values);
  };
  subject.child_command = {program_file(), "plugin", "__child", candidate.folder, options};
  return subject;
}

}  // namespace prism::cli
