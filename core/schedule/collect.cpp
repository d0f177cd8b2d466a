// SPDX-License-Identifier: Apache-2.0
#include "core/schedule/collect.hpp"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <optional>
#include <random>
#include <set>
#include <sstream>
#include <sys/stat.h>

#include "core/base/file.hpp"
#include "core/config/experiment.hpp"

namespace prism::schedule {
namespace {

constexpr uint64_t kMaxInput = uint64_t{1} << 34;

/// One execution that the job needs.
struct Wanted {
  size_t of_class;
  Rank rank;
  uint32_t repeat;
  bool check;
};

/// First members, repeated, and `check_replicas` others of each class.
std::vector<Wanted> plan(const CollectJob& job) {
  std::vector<Wanted> wanted;
  std::mt19937_64 random(job.seed);
  for (size_t c = 0; c < job.classes.size(); ++c) {
    const std::vector<Rank>& members = job.classes[c];
    for (uint32_t repeat = 1; repeat <= job.repeats; ++repeat) {
      wanted.push_back({c, members.front(), repeat, false});
    }
    std::set<size_t> chosen;
    const size_t checks = std::min<size_t>(job.check_replicas, members.size() - 1);
    while (chosen.size() < checks) {
      chosen.insert(1 + random() % (members.size() - 1));
    }
    for (const size_t index : chosen) {
      wanted.push_back({c, members[index], 1, true});
    }
  }
  // Class after class and repeat after repeat, so that a drift of the machine touches all alike.
  std::stable_sort(wanted.begin(), wanted.end(),
                   [](const Wanted& a, const Wanted& b) { return a.repeat < b.repeat; });
  return wanted;
}

Result<std::string> hash_of_file(const std::string& path) {
  PRISM_TRY_ASSIGN(const std::string content, read_file(path, kMaxInput));
  return content_hash(content);
}

wire::Welcome welcome_of(const CollectJob& job) {
  return {.seed = job.seed, .rules = job.rules, .router = job.router};
}

/// What agents are told, with the content of files that an option of a plugin names.
Result<std::string> key_of_welcome(wire::Welcome welcome) {
  std::string text;
  const auto add_files = [&text](const wire::Plugin& plugin) -> Status {
    for (const wire::PluginOption& option : plugin.options) {
      std::error_code ignored;
      if (option.type == PRISM_OPTION_PATH &&
          std::filesystem::is_regular_file(option.text, ignored)) {
        PRISM_TRY_ASSIGN(const std::string hash, hash_of_file(option.text));
        text += hash + "\n";
      }
    }
    return {};
  };
  for (wire::SourceRule& rule : welcome.rules) {
    PRISM_TRY(add_files(rule.source));
    rule.place.clear();  // a line more in the experiment file changes nothing
  }
  if (welcome.router) {
    PRISM_TRY(add_files(*welcome.router));
  }
  if (!wire::encode({1, std::move(welcome)}, text)) {
    return config_error("the rules for made-up values take more than " +
                        std::to_string(wire::kMaxBody >> 20) + " MiB");
  }
  return content_hash(text);
}

/// What, besides the rank and the imported source files, decides the outcome of a run. Reads all
/// data files of the job.
Result<std::string> shared_key_of(const CollectJob& job) {
  PRISM_TRY_ASSIGN(const std::string welcome_key, key_of_welcome(welcome_of(job)));
  std::ostringstream text;
  text << "\nagent " << welcome_key;
  for (const std::string& option : job.options) {
    text << "\noption " << option;
  }
  for (const std::string& argument : job.args) {
    text << "\narg " << argument;
  }
  for (const std::string& variable : job.key_env) {
    text << "\nenv " << variable;
  }
  for (const std::string& input : job.inputs) {
    PRISM_TRY_ASSIGN(const std::string hash, hash_of_file(input));
    text << "\ninput " << input << " " << hash;
  }
  return text.str();
}

std::string key_of(const CollectJob& job, Rank rank, const std::string& shared_key) {
  std::ostringstream text;
  text << job.versions << "\nscript " << job.script << "\ncwd " << job.cwd << "\nworld "
       << job.world_size << "\nrank " << rank << shared_key;
  return content_hash(text.str());
}

std::string folder_of(const CollectJob& job, const Wanted& wanted) {
  char name[32];
  std::snprintf(name, sizeof name, "%05u", wanted.rank);
  std::string folder = job.run_dir + "/ranks/" + name;
  return wanted.repeat > 1 ? folder + "/repeat." + std::to_string(wanted.repeat) : folder;
}

/// The file that says of a finished run what it was made from: "key HASH", then "HASH PATH" lines.
std::string inputs_path(const std::string& folder) {
  return folder + "/inputs";
}

/// What of the inputs of the finished run in `folder` is no more what it was; nothing: it is
/// current.
std::optional<std::string> stale_input(const std::string& folder, const std::string& key) {
  const Result<std::string> text = read_file(inputs_path(folder), kMaxInput);
  if (!text.ok()) {
    return inputs_path(folder);
  }
  std::istringstream lines(*text);
  std::string line;
  if (!std::getline(lines, line) || line != "key " + key) {
    return "the experiment or its environment";
  }
  while (std::getline(lines, line)) {
    const size_t space = std::min(line.find(' '), line.size() - 1);
    const std::string file = line.substr(space + 1);
    const Result<std::string> hash = hash_of_file(file);
    if (!hash.ok() || *hash != line.substr(0, space)) {
      return file;
    }
  }
  return std::nullopt;
}

Status changed_meanwhile(const std::string& what) {
  return run_error(what +
                   " changed while the ranks were recorded, so that they did not all run the same "
                   "program; run again: what is affected is recorded anew");
}

/// Whether the file was written to after `since`, by the clock that file times are of.
bool touched(const std::string& file, const timespec& since) {
  struct stat info {};
  return ::stat(file.c_str(), &info) == 0 && std::pair(info.st_ctim.tv_sec, info.st_ctim.tv_nsec) >
                                                 std::pair(since.tv_sec, since.tv_nsec);
}

/// Says that the run in `folder`, which began at `started`, is finished. The source files are those
/// that its last event names.
Status seal(const std::string& folder, const std::string& key, const timespec& started) {
  const std::string events = folder + "/events";
  PRISM_TRY_ASSIGN(const Recording recording, read_recording(events));
  // The recording is its own input too: one that was damaged since is not used.
  PRISM_TRY_ASSIGN(const std::string events_hash, hash_of_file(events));
  std::string text = "key " + key + "\n" + events_hash + " " + events + "\n";
  if (recording.complete) {
    for (const std::string& file : std::get<wire::Bye>(recording.events.back()).files) {
      const Result<std::string> hash = hash_of_file(file);
      if (hash.ok() && touched(file, started)) {
        return changed_meanwhile("'" + file + "'");
      }
      if (hash.ok() && file.find('\n') == std::string::npos) {
        text += *hash + " " + file + "\n";
      }
    }
  }
  return write_file_atomically(inputs_path(folder), text);
}

}  // namespace

Result<Collected> collect(const CollectJob& job, const OpenLauncher& open_launcher,
                          Runtime& runtime, const CoordinatorOptions& options,
                          const Progress& progress) {
  Collected collected;
  collected.classes.resize(job.classes.size());
  const std::vector<Wanted> wanted = plan(job);
  std::vector<RankRun> runs;
  std::vector<std::string> keys;
  PRISM_TRY_ASSIGN(const std::string shared_key, shared_key_of(job));
  for (const Wanted& one : wanted) {
    std::string key = key_of(job, one.rank, shared_key);
    RankRun run;
    run.folder = folder_of(job, one);
    if (!job.fresh && !stale_input(run.folder, key)) {
      ++collected.reused;
      continue;
    }
    PRISM_TRY(make_folders(run.folder));
    std::error_code ignored;
    std::filesystem::remove(inputs_path(run.folder), ignored);
    run.cwd = job.cwd;
    run.welcome = welcome_of(job);
    run.repeat = one.repeat;
    if (!job.pin_to.empty()) {
      run.core = job.pin_to[one.rank % job.pin_to.size()];
    }
    run.spec.rank = one.rank;
    run.spec.world_size = job.world_size;
    run.spec.seed = job.seed;
    run.spec.script = job.script;
    run.spec.env = job.env;
    for (const std::string& argument : job.args) {
      run.spec.args.push_back(config::substitute_placeholders(argument, job.world_size, one.rank));
    }
    runs.push_back(std::move(run));
    keys.push_back(std::move(key));
  }
  if (!runs.empty()) {
    Status sealed;
    std::vector<timespec> started(runs.size());
    Progress with_seal = progress;
    with_seal.started = [&](const RankRun& run) {
      ::clock_gettime(CLOCK_REALTIME, &started[static_cast<size_t>(&run - runs.data())]);
      if (progress.started) {
        progress.started(run);
      }
    };
    with_seal.finished = [&](const RankRun& run) {
      const auto index = static_cast<size_t>(&run - runs.data());
      Status status = seal(run.folder, keys[index], started[index]);
      if (sealed.ok()) {
        sealed = std::move(status);
      }
      if (progress.finished) {
        progress.finished(run);
      }
    };
    PRISM_TRY_ASSIGN(const std::unique_ptr<Launcher> launcher, open_launcher());
    LonePolicy policy;
    PRISM_TRY(run_ranks(runs, *launcher, runtime, policy, options, with_seal));
    PRISM_TRY(std::move(sealed));
    collected.executed = runs.size();
    // Ranks that ended before a change ran another program than those that began after it.
    PRISM_TRY_ASSIGN(const std::string shared_key_now, shared_key_of(job));
    if (shared_key_now != shared_key) {
      return changed_meanwhile("a file of [job] inputs, or that a [[collect.rule]] names,");
    }
    for (size_t i = 0; i < runs.size(); ++i) {
      if (const auto file = stale_input(runs[i].folder, keys[i])) {
        return changed_meanwhile("'" + *file + "'");
      }
    }
  }
  for (const Wanted& one : wanted) {
    PRISM_TRY_ASSIGN(const Recording recording, read_recording(folder_of(job, one) + "/events"));
    auto recorded = build_program(recording);
    if (!recorded.ok()) {
      return std::move(recorded).status().context("reading what rank " + std::to_string(one.rank) +
                                                  " recorded");
    }
    CollectedClass& of_class = collected.classes[one.of_class];
    (one.check ? of_class.checks : of_class.repeats).push_back(std::move(*recorded));
  }
  return collected;
}

}  // namespace prism::schedule
