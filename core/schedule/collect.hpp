// SPDX-License-Identifier: Apache-2.0
/// Stage collect: the members of a job's classes are executed, each alone, and recorded.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/status.hpp"
#include "core/schedule/coordinator.hpp"
#include "core/schedule/recorder.hpp"
#include "prism/wire/agent.hpp"

namespace prism::schedule {

/// What is collected. Paths are absolute.
struct CollectJob {
  uint32_t world_size = 0;
  std::vector<std::vector<Rank>> classes;
  uint32_t check_replicas = 1;  ///< further members of each class that are executed, chosen by seed
  uint32_t repeats = 1;         ///< runs of each class' first member
  uint64_t seed = 1;
  std::string script;
  std::vector<std::string> args;     ///< with placeholders, see config/placeholders
  std::vector<std::string> env;      ///< the whole environment, "NAME=value"
  std::vector<std::string> key_env;  ///< the part whose change makes recordings stale
  std::string cwd;
  std::vector<std::string> inputs;  ///< data files whose change makes recordings stale
  std::string run_dir;
  /// Of the runtime, as written: their change makes recordings stale.
  std::vector<std::string> options;
  std::vector<wire::SourceRule> rules;  ///< for values that no peer has sent
  std::optional<wire::Plugin> router;
  std::string versions;          ///< prism, plugins, framework: their change makes recordings stale
  bool fresh = false;            ///< record again what is there
  std::vector<uint32_t> pin_to;  ///< rank r runs on core r modulo their number; none: on any
};

struct CollectedClass {
  std::vector<RecordedRank> repeats;  ///< of the first member
  std::vector<RecordedRank> checks;   ///< other members
};

struct Collected {
  std::vector<CollectedClass> classes;  ///< as CollectJob::classes
  uint64_t executed = 0;                ///< runs made now
  uint64_t reused = 0;                  ///< runs that were there
};

using OpenLauncher = std::function<Result<std::unique_ptr<Launcher>>()>;

/// Runs what is not there yet. The launcher is opened only when something has to run.
/// A run that is finished is never run again while its inputs stay the same: script, arguments,
/// environment, source files that it imported, `inputs`, `versions`, what the agent is told, and
/// files that plugins in the rank read by it.
Result<Collected> collect(const CollectJob& job, const OpenLauncher& open_launcher,
                          Runtime& runtime, const CoordinatorOptions& options,
                          const Progress& progress);

}  // namespace prism::schedule
