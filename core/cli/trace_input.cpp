// SPDX-License-Identifier: Apache-2.0
#include "core/cli/trace_input.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <csignal>
#include <filesystem>

#include "core/base/log.hpp"
#include "core/calibrate/observation_file.hpp"
#include "core/cli/bare_experiment.hpp"
#include "core/cli/plugin_search.hpp"
#include "core/cli/plugin_trial.hpp"
#include "core/config/plugin_options.hpp"
#include "core/graph/trace_file.hpp"
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

namespace {

Result<std::vector<plugin::TraceFile>> files_of(const Arguments& arguments) {
  std::vector<plugin::TraceFile> files;
  for (const std::string& word : arguments.all("FILE")) {
    files.push_back(trace_file(word));
    std::error_code error;
    if (!std::filesystem::exists(files.back().path, error)) {
      return config_error("there is no file '" + files.back().path + "'", Code::NotFound);
    }
    if (!std::filesystem::is_regular_file(files.back().path, error)) {
      return config_error("'" + files.back().path +
                          "' is no regular file; of a folder, give the files in it");
    }
  }
  return files;
}

Result<TraceInput> read_prism_files(const std::vector<plugin::TraceFile>& files) {
  TraceInput input;
  for (const plugin::TraceFile& file : files) {
    PRISM_TRY_ASSIGN(const graph::FileContent content, graph::content_of_file(file.path));
    if (content == graph::FileContent::Other) {
      return config_error("'" + file.path + "' is no .prism file, as the others are");
    }
    if (content == graph::FileContent::Observation) {
      PRISM_TRY_ASSIGN(calibrate::Observation slice, calibrate::read_observation(file.path));
      input.slices.push_back(std::move(slice));
      continue;
    }
    if (files.size() > 1) {
      return config_error("'" + file.path + "' is a whole trace, not a slice: it is given alone");
    }
    PRISM_TRY_ASSIGN(input.trace, graph::read_trace(file.path));
    input.origin = input.trace->origin;
  }
  if (!input.trace) {
    input.origin = input.slices.size() == 1 ? "observed trace" : "trace in slices";
  }
  return input;
}

}  // namespace

const char* const kTraceFiles =
    "FILE: a .prism file, or a trace of another kind; RANK=FILE where it does not say of which\n"
    "rank it is. A trace of several files is given with all of them.";

Result<TraceInput> read_input(const Arguments& arguments) {
  PRISM_TRY_ASSIGN(const std::vector<plugin::TraceFile> files, files_of(arguments));
  if (!arguments.has("format")) {
    PRISM_TRY_ASSIGN(const graph::FileContent content, graph::content_of_file(files.front().path));
    if (content != graph::FileContent::Other) {
      if (!arguments.all("option").empty()) {
        return config_error(
            "--option is for the plugin that reads a trace; '" + files.front().path +
            "' is a .prism file: give it to `prism trace import` when that file is made");
      }
      return read_prism_files(files);
    }
  }
  PRISM_TRY_ASSIGN(const plugin::SearchPath path, search_path(arguments));
  plugin::Registry registry(path);
  std::string id;
  if (arguments.has("format")) {
    id = arguments.at("format");
  } else {
    PRISM_TRY_ASSIGN(id, format_of(registry, files.front().path));
  }
  PRISM_TRY_ASSIGN(const auto format, open_format(registry, id, arguments.all("option")));
  PRISM_TRY_ASSIGN(calibrate::Observation observation, format->import_trace(files));
  calibrate::ensure_iterations(observation);
  TraceInput input;
  input.origin = id + " trace";
  input.slices.push_back(std::move(observation));
  return input;
}

namespace {

/// The first rank of one is in the other, with the same times.
bool shows_the_same(const calibrate::Observation& a, const calibrate::Observation& b) {
  const calibrate::ObservedRank& first = a.ranks.front();
  return std::any_of(b.ranks.begin(), b.ranks.end(), [&](const calibrate::ObservedRank& rank) {
    return rank.program.rank == first.program.rank && rank.nodes.size() == first.nodes.size() &&
           std::equal(rank.nodes.begin(), rank.nodes.end(), first.nodes.begin(),
                      [](const calibrate::Span& x, const calibrate::Span& y) {
                        return x.start == y.start && x.end == y.end;
                      });
  });
}

}  // namespace

Result<std::vector<calibrate::Observation>> repeats_of(std::vector<calibrate::Observation> slices) {
  std::vector<std::vector<calibrate::Observation>> repeats;
  const auto overlap = [](const calibrate::Observation& a, const calibrate::Observation& b) {
    return std::any_of(a.ranks.begin(), a.ranks.end(), [&](const calibrate::ObservedRank& rank) {
      return std::any_of(b.ranks.begin(), b.ranks.end(), [&](const calibrate::ObservedRank& other) {
        return rank.program.rank == other.program.rank;
      });
    });
  };
  for (calibrate::Observation& slice : slices) {
    if (slice.world_size != slices.front().world_size) {
      return config_error("these are slices of different jobs: of " +
                          std::to_string(slices.front().world_size) + " ranks and of " +
                          std::to_string(slice.world_size));
    }
    for (const auto& repeat : repeats) {
      for (const calibrate::Observation& other : repeat) {
        if (shows_the_same(slice, other)) {
          return config_error("rank " + std::to_string(slice.ranks.front().program.rank) +
                              " is given twice with the same times: " + slice.ranks.front().source +
                              " and " + other.ranks.front().source);
        }
      }
    }
    auto place = std::find_if(repeats.begin(), repeats.end(), [&](const auto& repeat) {
      return std::none_of(repeat.begin(), repeat.end(),
                          [&](const auto& other) { return overlap(slice, other); });
    });
    if (place == repeats.end()) {
      place = repeats.emplace(repeats.end());
    }
    place->push_back(std::move(slice));
  }
  std::vector<calibrate::Observation> united;
  united.reserve(repeats.size());
  for (std::vector<calibrate::Observation>& repeat : repeats) {
    PRISM_TRY_ASSIGN(calibrate::Observation one, calibrate::unite(std::move(repeat)));
    united.push_back(std::move(one));
  }
  return united;
}

Result<calibrate::Calibrated> calibrated_input(const Arguments& arguments,
                                               const calibrate::CalibrateOptions& options) {
  PRISM_TRY_ASSIGN(TraceInput input, read_input(arguments));
  if (input.trace) {
    return calibrate::Calibrated{*std::move(input.trace), {}};
  }
  PRISM_TRY_ASSIGN(const std::vector<calibrate::Observation> repeats,
                   repeats_of(std::move(input.slices)));
  PRISM_TRY_ASSIGN(calibrate::Calibrated result, calibrate::calibrate(repeats, options));
  result.trace.origin = input.origin;
  for (const calibrate::Observation& repeat : repeats) {
    result.trace.notes.insert(result.trace.notes.end(), repeat.notes.begin(), repeat.notes.end());
  }
  return result;
}

void full_file_is_an_error() {
  std::signal(SIGXFSZ, SIG_IGN);
}

Result<std::string> output_path(const Arguments& arguments) {
  if (!arguments.has("output")) {
    return config_error("--output is missing");
  }
  const std::string& path = arguments.at("output");
  for (const std::string& word : arguments.all("FILE")) {
    std::error_code error;
    const std::filesystem::path file = trace_file(word).path;
    const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
    if (std::filesystem::equivalent(file, path, error) ||
        std::filesystem::equivalent(folder, path, error)) {  // of a format that writes a folder
      return config_error("--output would replace the trace '" + word + "'");
    }
  }
  return path;
}

}  // namespace prism::cli
