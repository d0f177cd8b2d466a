// SPDX-License-Identifier: Apache-2.0
/// What became of the time of some cores while ranks ran on them: what is measured in a time that
/// others took is no fault of a prediction.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/status.hpp"

namespace prism::schedule {

/// Time of cores as the kernel counts it, since it was started. Serving interrupts is left out:
/// part of it is work for the ranks, and it is not known which.
struct CoreTime {
  DurationNs programs = 0;  ///< processes of this machine ran
  DurationNs stolen = 0;    ///< a process wanted to run and the host gave the core to another guest
};

/// Sum over `cores` of /proc/stat, whose content is `stat`. `ticks`: its units in a second. Error:
/// a core is not there.
Result<CoreTime> core_time(std::string_view stat, const std::vector<uint32_t>& cores,
                           int64_t ticks);

/// Spans of time in which cores were wanted, added up.
struct CoreUsage {
  DurationNs wanted = 0;  ///< processes ran or would have run
  DurationNs stolen = 0;  ///< of that, taken by the host
  DurationNs others = 0;  ///< of that, at least: taken by processes that are not this program's

  CoreUsage& operator+=(const CoreUsage& more);
  double stolen_share() const { return share(stolen); }
  double others_share() const { return share(others); }

 private:
  double share(DurationNs part) const {
    return wanted > 0 ? static_cast<double>(part) / static_cast<double>(wanted) : 0;
  }
};

/// Watches cores from its construction on.
class CoreWatch {
 public:
  static Result<CoreWatch> start(std::vector<uint32_t> cores);
  /// Until now. The processes that this program has started in between must have ended, and their
  /// launcher with them: until then their time looks like that of others.
  Result<CoreUsage> usage() const;

 private:
  struct Reading {
    CoreTime cores;
    DurationNs own = 0;  ///< of this process and of those below it that have ended, on any core
  };
  explicit CoreWatch(std::vector<uint32_t> cores) : cores_(std::move(cores)) {}
  Result<Reading> read() const;

  std::vector<uint32_t> cores_;
  Reading start_;
};

}  // namespace prism::schedule
