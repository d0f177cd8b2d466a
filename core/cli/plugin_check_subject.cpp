// SPDX-License-Identifier: Apache-2.0
#include "core/cli/plugin_check_subject.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include "core/base/program.hpp"
#include "core/config/option_text.hpp"
#include "core/config/plugin_options.hpp"
#include "core/config/suggest.hpp"
#include "core/config/toml_reader.hpp"
#include "core/plugin/elf.hpp"

namespace prism::cli {
namespace {

config::Experiment as_experiment(std::shared_ptr<const config::Source> source, config::Value root,
                                 const std::string& file) {
  config::Experiment experiment;
  experiment.file = file;
  experiment.document = std::make_shared<const config::Document>(
      config::Document{std::move(source), std::move(root)});
  return experiment;
}

/// The file of --options: an experiment of which only the options of plugins are read.
Result<config::Experiment> read_options_file(const std::string& file, const std::string& id) {
  auto read = config::read_source(file);
  if (const auto* diagnostics = std::get_if<config::Diagnostics>(&read)) {
    return diagnostics->status();
  }
  auto source = std::get<0>(std::move(read));
  auto parsed = config::parse_toml(source);
  if (const auto* diagnostics = std::get_if<config::Diagnostics>(&parsed)) {
    return diagnostics->status();
  }
  config::Experiment experiment =
      as_experiment(source, std::get<config::Value>(std::move(parsed)), file);
  const std::vector<std::string_view> ids = config::plugin_option_ids(experiment);
  if (std::find(ids.begin(), ids.end(), id) == ids.end()) {
    const std::string hint = config::suggestion(id, ids);
    return config_error(file + " has no [plugins.options." + config::write_key(id) +
                        "], the options of the plugin that is checked" +
                        (hint.empty() ? "" : "; of the tables that it has, " + hint));
  }
  return experiment;
}

/// A table of options that has the required ones, as far as their bounds or choices show a value.
std::string required_values(const std::string& id, const config::OptionRows& rows) {
  std::string text = "[plugins.options." + config::write_key(id) + "]\n";
  for (const config::Option& option : rows.options) {
    const std::optional<std::string> value = config::value_within(option);
    if (option.required && value) {
      text += config::write_key(option.name) + " = " + *value + "\n";
    }
  }
  return text;
}

/// Validates values for a table as `prism run` does; keeps the texts of the last ones.
class OptionReader {
 public:
  /// `given`: the file of --options, if there is one.
  OptionReader(std::string id, std::optional<config::Experiment> given)
      : id_(std::move(id)), given_(std::move(given)) {}

  conformance::OptionReading read(const prism_option_table_t& table) {
    const Result<config::Experiment> experiment = values_for(table);
    if (!experiment.ok()) {
      return {{}, std::string(experiment.status().message())};
    }
    config::Diagnostics diagnostics(experiment->document->source);
    Result<config::PluginOptions> options =
        config::validate_plugin_options(*experiment, id_, table, diagnostics);
    if (!options.ok()) {
      return diagnostics.empty()
                 ? conformance::OptionReading{{}, std::string(options.status().message())}
                 : conformance::OptionReading{{}, mistake(diagnostics), true};
    }
    last_.emplace(std::move(options).value());
    return {last_->abi(), {}};
  }

 private:
  Result<config::Experiment> values_for(const prism_option_table_t& table) const {
    if (given_) {
      return *given_;
    }
    PRISM_TRY_ASSIGN(const config::OptionRows rows, config::read_option_rows(id_, table));
    const auto source = std::make_shared<const config::Source>("", required_values(id_, rows));
    auto parsed = config::parse_toml(source);
    return as_experiment(source, std::get<config::Value>(std::move(parsed)), "");
  }

  /// The first one in a line, with its place in the user's file.
  std::string mistake(const config::Diagnostics& diagnostics) const {
    const std::string text = diagnostics.text();
    return given_ ? text.substr(0, text.find('\n'))
                  : diagnostics.shown().front().message + "; give it with --options FILE";
  }

  std::string id_;
  std::optional<config::Experiment> given_;
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
                                        const CheckFiles& files) {
  std::error_code error;
  std::string options;
  if (!files.options.empty()) {
    options = std::filesystem::absolute(files.options, error).string();
  }
  std::optional<config::Experiment> given;
  if (!options.empty()) {
    PRISM_TRY_ASSIGN(given, read_options_file(options, candidate.id));
  }
  const auto reader = std::make_shared<OptionReader>(candidate.id, std::move(given));
  conformance::Subject subject;
  subject.library = candidate.library();
  subject.id = candidate.id;
  subject.version = candidate.manifest.version;
  subject.interfaces = candidate.manifest.interfaces;
  subject.drafts = candidate.manifest.drafts;
  for (const plugin::Companion& companion : candidate.manifest.companions) {
    subject.companions.push_back({candidate.folder + "/" + companion.file, companion.exports});
  }
  subject.samples.reserve(files.samples.size());
  for (const std::string& sample : files.samples) {
    if (!std::filesystem::is_regular_file(sample, error)) {
      return config_error("--sample: there is no file '" + sample + "'", Code::NotFound);
    }
    subject.samples.push_back(std::filesystem::absolute(sample, error).string());
  }
  subject.read_file = read_file;
  subject.read_options = [reader](const prism_option_table_t& table) {
    return reader->read(table);
  };
  subject.child_command = {program_file(), "plugin", "__child"};
  for (const std::string& sample : subject.samples) {
    subject.child_command.push_back("--sample=" + sample);
  }
  subject.child_command.insert(subject.child_command.end(), {candidate.folder, options});
  return subject;
}

}  // namespace prism::cli
