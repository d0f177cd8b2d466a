// SPDX-License-Identifier: Apache-2.0
#include "core/cli/trace_input.hpp"

#include <charconv>
#include <chrono>
#include <filesystem>

#include "core/base/log.hpp"
#include "core/cli/bare_experiment.hpp"
#include "core/cli/plugin_search.hpp"
#include "core/cli/plugin_trial.hpp"
#include "core/config/plugin_options.hpp"
#include "core/plugin/adapters.hpp"
#include "prism/abi/draft/format.h"

namespace prism::cli {
namespace {

/// "3=rank3.json.gz" is the file of rank 3. A file of that very name is that file.
plugin::TraceFile trace_file(const std::string& word) {
  const size_t sign = word.find('=');
  std::error_code error;
  if (sign == std::string::npos || sign == 0 || std::filesystem::exists(word, error)) {
    return {word, std::nullopt};
  }
  Rank rank = 0;
  const auto [end, failure] = std::from_chars(word.data(), word.data() + sign, rank);
  if (failure != std::errc() || end != word.data() + sign) {
    return {word, std::nullopt};
  }
  return {word.substr(sign + 1), rank};
}

std::vector<std::string> formats_of(const plugin::Registry& registry) {
  std::vector<std::string> ids;
  for (const plugin::Candidate& candidate : registry.list()) {
    if (candidate.state == plugin::State::Ok && candidate.manifest.offers(PRISM_FORMAT_1)) {
      ids.push_back(candidate.id);
    }
  }
  return ids;
}

std::string list_of(const std::vector<std::string>& ids) {
  std::string text;
  for (const std::string& id : ids) {
    text += (text.empty() ? "" : ", ") + id;
  }
  return text.empty() ? "none" : text;
}

Result<std::unique_ptr<plugin::Format>> open_here(plugin::Registry& registry, const std::string& id,
                                                  const std::vector<std::string>& options) {
  PRISM_TRY_ASSIGN(const prism_option_table_t table, plugin::options(registry, id, PRISM_FORMAT_1));
  PRISM_TRY_ASSIGN(config::Table given, option_words(options));
  config::Diagnostics diagnostics("--option");
  PRISM_TRY_ASSIGN(const config::PluginOptions values,
                   config::validate_plugin_options(bare_experiment(id, std::move(given)), id, table,
                                                   diagnostics));
  return plugin::open_format(registry, id, values.abi());
}

constexpr std::chrono::seconds kTrial{20};
constexpr const char* kExports = "exports";
constexpr const char* kMine = "mine";
constexpr const char* kOthers = "others";

/// kMine: the format knows the file; kExports: it reads none. Asked in a process of its own.
/// Errors: the format is broken.
Result<std::string> answer_of(plugin::Registry& registry, const std::string& id,
                              const std::string& path) {
  PRISM_TRY_ASSIGN(
      const std::string answer, try_in_child("plugin '" + id + "'", kTrial, [&]() -> std::string {
        const auto format = open_here(registry, id, {});
        if (!format.ok()) {
          return std::string(format.status().message());
        }
        return !(*format)->imports() ? kExports : (*format)->recognises(path) ? kMine : kOthers;
      }));
  if (answer == kExports || answer == kMine || answer == kOthers) {
    return answer;
  }
  return plugin_error(answer);
}

/// The one format that knows the file.
Result<std::string> format_of(plugin::Registry& registry, const std::string& path) {
  std::vector<std::string> all;
  std::vector<std::string> mine;
  for (const std::string& id : formats_of(registry)) {
    const Result<std::string> answer = answer_of(registry, id, path);
    if (!answer.ok()) {  // one that is broken must not keep the others from their files
      log::warn("left out: " + std::string(answer.status().message()));
      continue;
    }
    if (*answer == kExports) {
      continue;
    }
    all.push_back(id);
    if (*answer == kMine) {
      mine.push_back(id);
    }
  }
  if (mine.size() == 1) {
    return mine.front();
  }
  if (mine.empty()) {
    return run_error("no format knows the file '" + path + "'; there are: " + list_of(all) +
                         "; name one with --format",
                     Code::InvalidArgument);
  }
  return config_error("'" + path + "' may be of several formats: " + list_of(mine) +
                      "; name one with --format");
}

}  // namespace

std::vector<Flag> with_trace_flags(std::vector<Flag> own) {
  own.push_back(
      {"format", "ID", "the plugin that reads the files; default: the one that knows them"});
  own.push_back({"option", "KEY=VALUE", "an option of that plugin (repeatable)", true});
  return with_search_flags(std::move(own));
}

Result<std::unique_ptr<plugin::Format>> open_format(plugin::Registry& registry,
                                                    const std::string& id,
                                                    const std::vector<std::string>& options) {
  PRISM_TRY(try_in_child("plugin '" + id + "'", kTrial, [&] {
              static_cast<void>(open_here(registry, id, options));
              return std::string();
            }).status());
  return open_here(registry, id, options);
}

Result<Imported> import_trace(plugin::Registry& registry, const Arguments& arguments) {
  std::vector<plugin::TraceFile> files;
  for (const std::string& word : arguments.all("FILE")) {
    files.push_back(trace_file(word));
    std::error_code error;
    if (!std::filesystem::exists(files.back().path, error)) {
      return config_error("there is no file '" + files.back().path + "'", Code::NotFound);
    }
    if (!std::filesystem::is_regular_file(files.back().path, error)) {
      return config_error("'" + files.back().path + "' is no regular file");
    }
  }
  Imported imported;
  if (arguments.has("format")) {
    imported.format = arguments.at("format");
  } else {
    PRISM_TRY_ASSIGN(imported.format, format_of(registry, files.front().path));
  }
  PRISM_TRY_ASSIGN(const auto format,
                   open_format(registry, imported.format, arguments.all("option")));
  PRISM_TRY_ASSIGN(imported.observation, format->import_trace(files));
  calibrate::ensure_iterations(imported.observation);
  return imported;
}

}  // namespace prism::cli
