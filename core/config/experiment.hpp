// SPDX-License-Identifier: Apache-2.0
/// experiment.toml as a typed, checked struct (architecture 2).
///
///   LoadResult loaded = load_experiment("exp.toml");
///   if (!loaded.experiment) {
///     print(loaded.diagnostics.text());
///     return loaded.diagnostics.status();  // exit code 2
///   }
///   use(loaded.experiment->parallel.world_size);
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/ids.hpp"
#include "core/config/classes.hpp"
#include "core/config/collect_rules.hpp"
#include "core/config/diagnostics.hpp"
#include "core/config/option_table.hpp"
#include "core/config/toml_reader.hpp"

namespace prism::config {

/// [link.NAME]: how messages of a communicator travel.
struct Link {
  std::string name;
  DurationNs latency = 0;
  int64_t bandwidth = 0;  ///< bytes per second, >= 1
  DurationNs per_message = 0;
  std::optional<int64_t> reduce_bandwidth;  ///< bytes per second, >= 1
  std::optional<int64_t> copy_bandwidth;    ///< bytes per second, >= 1
  /// What a communicator must have for this link; never set in [link.default], at least one of the
  /// two in every other link.
  std::optional<std::string> backend;
  std::optional<std::string> description;
};

/// [verify.N]: the job at N ranks.
struct VerifyShape {
  std::optional<std::vector<std::string>> args;  ///< in place of those of the job; none: unchanged
  StringPairs env;                               ///< added to that of the job, wins over it
};

/// One value as it is in force, for `config show`, experiment.lock.toml and content hashes.
struct EffectiveValue {
  std::string table;  ///< "time", "link.default", with quotes where TOML needs them
  std::string key;
  std::string toml;  ///< canonical: paths absolute, numbers with the largest exact unit
  Origin origin = Origin::Default;
  uint32_t line = 0;  ///< in the file, when origin is File
};

/// All paths are absolute. Immutable after load_experiment; any thread.
struct Experiment {
  std::string file;  ///< as it was given
  std::string name;
  std::string run_dir;
  uint64_t seed = 1;

  struct Job {
    std::string script;             ///< a file
    std::vector<std::string> args;  ///< with placeholders, see substitute_placeholders
    StringPairs env;
    std::vector<std::string> inputs;  ///< files
    std::string cwd;                  ///< a folder
  } job;

  struct Parallel {
    uint32_t world_size = 1;
    std::vector<Rank> sandbox;  ///< as written, without duplicates
    Classes classes;            ///< every rank in exactly one
    uint32_t check_replicas = 1;
  } parallel;

  struct Plugins {
    std::string runtime;
    std::string launcher;
    std::optional<std::string> router;
    std::optional<std::string> adapter;
    StringPairs paths;  ///< id -> folder
  } plugins;

  struct Collect {
    uint32_t slots = 0;  ///< 0: one per usable core
    DurationNs timeout = 0;
    std::vector<CollectRule> rules;  ///< in the order of the file
  } collect;

  /// [link.default]; may be missing when world_size is 1.
  std::optional<Link> default_link;
  /// The others, in the order of the file.
  std::vector<Link> links;

  struct Time {
    uint32_t repeats = 2;
    uint32_t warmup_iterations = 3;
  } time;

  struct Predict {
    double compute_scale = 1.0;
  } predict;

  std::map<uint32_t, VerifyShape> verify;  ///< by number of ranks

  struct Report {
    uint32_t timeline_ranks = 16;
  } report;

  /// In the order of the tables; optional values that are not set are not in it. Options of
  /// plugins are as written, their paths relative to the file.
  std::vector<EffectiveValue> effective;
  std::shared_ptr<const Document> document;
};

/// A value given on the command line, in place of what the file says: {"collect.slots", "4"}. The
/// value is TOML; what is not is taken as a string, so that quotes are not needed.
struct Override {
  std::string key;
  std::string value;
};

struct LoadResult {
  std::optional<Experiment> experiment;  ///< set exactly when there are no diagnostics
  Diagnostics diagnostics;
};

/// Reads and checks an experiment file: all mistakes at once, except that a file that is not TOML
/// shows only the first. Also looks whether the script, inputs and folders exist.
LoadResult load_experiment(const std::string& path, const std::vector<Override>& overrides = {});

/// The same check for `prism config check`.
Diagnostics check_file(const std::string& path);

/// The effective experiment as TOML that loads again from any folder to the same experiment; beside
/// each value its origin: `# default`, `# file:line` or `# command line`.
std::string render_effective(const Experiment& experiment);

/// The link that a communicator uses: the first in the order of the file whose every condition
/// holds (exact text), else the default. Null only where world_size is 1 and there is none.
const Link* choose_link(const Experiment& experiment, std::string_view backend,
                        std::string_view description);

/// `arg` with {world_size} and {rank} replaced; {{name}} becomes {name}. Other braces stay.
std::string substitute_placeholders(std::string_view arg, uint32_t world_size, Rank rank);

}  // namespace prism::config
