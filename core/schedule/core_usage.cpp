// SPDX-License-Identifier: Apache-2.0
#include "core/schedule/core_usage.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <sstream>
#include <string>
#include <sys/resource.h>
#include <unistd.h>

#include "core/base/file.hpp"

namespace prism::schedule {
namespace {

constexpr const char* kStat = "/proc/stat";
constexpr uint64_t kMaxStat = uint64_t{1} << 24;
constexpr int64_t kSecond = 1'000'000'000;

// Columns of a core's line, see proc_stat(5).
enum Column : uint8_t { User, Nice, System, Idle, IoWait, Irq, SoftIrq, Steal, Columns };

DurationNs time_of(const timeval& time) {
  return int64_t{time.tv_sec} * kSecond + int64_t{time.tv_usec} * 1000;
}

DurationNs cpu_time(int who) {
  rusage usage{};
  ::getrusage(who, &usage);
  return time_of(usage.ru_utime) + time_of(usage.ru_stime);
}

}  // namespace

Result<CoreTime> core_time(std::string_view stat, const std::vector<uint32_t>& cores,
                           int64_t ticks) {
  const std::set<uint32_t> wanted(cores.begin(), cores.end());
  CoreTime time;
  size_t found = 0;
  std::istringstream lines{std::string(stat)};
  std::string line;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string prefix(3, ' ');
    uint32_t core = 0;
    if (!words.read(prefix.data(), 3) || prefix != "cpu" || words.peek() == ' ' ||
        !(words >> core) || wanted.count(core) == 0) {
      continue;
    }
    std::array<int64_t, Columns> columns{};  // what an old kernel does not count is 0
    for (int64_t& column : columns) {
      words >> column;
    }
    const int64_t tick = kSecond / ticks;
    time.programs += (columns[User] + columns[Nice] + columns[System]) * tick;
    time.stolen += columns[Steal] * tick;
    ++found;
  }
  if (found != wanted.size()) {
    return run_error(std::string(kStat) + " does not have all " + std::to_string(wanted.size()) +
                     " cores that ranks are pinned to");
  }
  return time;
}

CoreUsage& CoreUsage::operator+=(const CoreUsage& more) {
  wanted += more.wanted;
  stolen += more.stolen;
  others += more.others;
  return *this;
}

Result<CoreWatch> CoreWatch::start(std::vector<uint32_t> cores) {
  CoreWatch watch(std::move(cores));
  PRISM_TRY_ASSIGN(watch.start_, watch.read());
  return watch;
}

Result<CoreWatch::Reading> CoreWatch::read() const {
  PRISM_TRY_ASSIGN(const std::string stat, read_file(kStat, kMaxStat));
  Reading reading;
  PRISM_TRY_ASSIGN(reading.cores, core_time(stat, cores_, ::sysconf(_SC_CLK_TCK)));
  reading.own = cpu_time(RUSAGE_SELF) + cpu_time(RUSAGE_CHILDREN);
  return reading;
}

Result<CoreUsage> CoreWatch::usage() const {
  PRISM_TRY_ASSIGN(const Reading now, read());
  const DurationNs programs = now.cores.programs - start_.cores.programs;
  CoreUsage usage;
  usage.stolen = std::max<DurationNs>(0, now.cores.stolen - start_.cores.stolen);
  usage.wanted = std::max<DurationNs>(0, programs) + usage.stolen;
  // What own processes did on further cores hides as much of the others' time.
  usage.others = std::max<DurationNs>(0, programs - (now.own - start_.own));
  return usage;
}

}  // namespace prism::schedule
