// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gnu/libc-version.h>
#include <iterator>
#include <optional>
#include <sched.h>
#include <sstream>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "core/cli/doctor/look.hpp"

namespace prism::cli {
namespace {

constexpr uint64_t kGiB = uint64_t{1} << 30;
// Measured with torch 2.11 on x86-64: `import torch` has a peak of 0.48 GiB.
constexpr uint64_t kMemoryOfOneRank = kGiB;
constexpr uint64_t kFilesOfARun = 1024;
constexpr uint64_t kDiskOfARun = kGiB;

std::optional<uint64_t> number_at(const std::string& text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end != text.data() ? std::optional(number) : std::nullopt;
}

/// A line of /proc/meminfo, in bytes.
std::optional<uint64_t> memory_line(const std::string& meminfo, const std::string& name) {
  const auto kib = number_at(line_value(meminfo, name, ':'));
  return kib ? std::optional(*kib * 1024) : std::nullopt;
}

/// The files named `v2` (or `v1` of a controller) of this process' cgroup and of those above it.
std::vector<std::string> cgroup_files(const std::string& controller, const std::string& v2,
                                      const std::string& v1) {
  std::vector<std::string> files;
  std::istringstream lines(content("/proc/self/cgroup"));
  for (std::string line; std::getline(lines, line);) {  // "4:memory:/a/b" or "0::/a/b"
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) {
      continue;
    }
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const bool unified = controllers.empty();
    if (!unified && ("," + controllers + ",").find("," + controller + ",") == std::string::npos) {
      continue;
    }
    const std::filesystem::path root = unified ? "/sys/fs/cgroup" : "/sys/fs/cgroup/" + controllers;
    std::filesystem::path group = line.substr(second + 1);
    while (true) {
      files.push_back((root / group.relative_path() / (unified ? v2 : v1)).string());
      if (!group.has_relative_path()) {
        break;
      }
      group = group.parent_path();
    }
  }
  return files;
}

std::optional<uint64_t> cgroup_memory_limit(uint64_t total) {
  std::optional<uint64_t> limit;
  for (const std::string& file : cgroup_files("memory", "memory.max", "memory.limit_in_bytes")) {
    const auto bytes = number_at(content(file));  // "max" is none; version 1 has a huge number
    if (bytes && *bytes < total) {
      limit = std::min(limit.value_or(*bytes), *bytes);
    }
  }
  return limit;
}

/// Processors that the cgroups allow to use on average; nothing: no such limit.
std::optional<double> cgroup_cpus() {
  std::optional<double> least;
  for (const std::string& file : cgroup_files("cpu", "cpu.max", "cpu.cfs_quota_us")) {
    std::istringstream text(content(file));
    double quota = 0;
    double period = 0;
    text >> quota;  // fails for "max"; -1 in version 1 is none
    if (!(text >> period)) {
      const std::string beside = std::filesystem::path(file).parent_path() / "cpu.cfs_period_us";
      period = static_cast<double>(number_at(content(beside)).value_or(0));
    }
    if (quota > 0 && period > 0) {
      least = std::min(least.value_or(quota / period), quota / period);
    }
  }
  return least;
}

std::string cpu_model() {
  const std::string name = line_value(content("/proc/cpuinfo"), "model name", ':');
  utsname names{};
  ::uname(&names);
  return (name.empty() ? std::string("unnamed") : name) + ", " + names.machine;
}

size_t usable_cores() {
  // A mask of fixed size is too small for machines with more than 1,024 processors.
  for (int processors = CPU_SETSIZE; processors <= 1 << 20; processors *= 2) {
    cpu_set_t* const mask = CPU_ALLOC(static_cast<size_t>(processors));
    const size_t size = CPU_ALLOC_SIZE(static_cast<size_t>(processors));
    const bool known = mask != nullptr && ::sched_getaffinity(0, size, mask) == 0;
    const bool too_small = !known && errno == EINVAL;
    const int count = known ? CPU_COUNT_S(size, mask) : 0;
    CPU_FREE(mask);
    if (!too_small) {
      return static_cast<size_t>(count);
    }
  }
  return 0;
}

std::string limit_text(rlim_t limit, bool bytes) {
  if (limit == RLIM_INFINITY) {
    return "unlimited";
  }
  return bytes ? in_bytes(limit) : std::to_string(limit);
}

/// Soft and hard limit of `resource`.
Fact limit_fact(const std::string& id, int resource, bool bytes) {
  rlimit limit{};
  ::getrlimit(static_cast<__rlimit_resource>(resource), &limit);
  Fact fact{.id = id,
            .text = limit_text(limit.rlim_cur, bytes) + " (at most " +
                    limit_text(limit.rlim_max, bytes) + ")"};
  if (limit.rlim_cur != RLIM_INFINITY) {
    fact.number = limit.rlim_cur;
  }
  return fact;
}

bool has_rdma() {
  std::error_code error;
  return std::filesystem::directory_iterator("/sys/class/infiniband", error) !=
         std::filesystem::directory_iterator();
}

}  // namespace

std::string in_bytes(uint64_t bytes) {
  if (bytes < 1024) {
    return std::to_string(bytes) + " B";
  }
  double value = static_cast<double>(bytes);
  const char* unit = "B";
  for (const char* next : {"KiB", "MiB", "GiB", "TiB", "PiB"}) {
    if (value < 1024) {
      break;
    }
    value /= 1024;
    unit = next;
  }
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f %s", value, unit);
  return text;
}

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string line_value(const std::string& text, const std::string& name, char separator) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const size_t at = line.find(separator);
    if (at == std::string::npos || line.compare(0, name.size(), name) != 0 ||
        line.find_first_not_of(" \t", name.size()) != at) {
      continue;
    }
    const size_t begin = line.find_first_not_of(" \t", at + 1);
    return begin == std::string::npos ? std::string() : line.substr(begin);
  }
  return {};
}

void look_at_cpu(Facts& facts) {
  facts.push_back({.id = "cpu.model", .text = cpu_model()});

  const size_t cores = usable_cores();
  const long online = ::sysconf(_SC_NPROCESSORS_ONLN);
  Fact usable{.id = "cpu.usable",
              .text = std::to_string(cores) + " of " + std::to_string(online),
              .number = cores};
  if (cores < 2) {
    usable.state = State::Limited;
    usable.consequence =
        "ranks run one after another, and a job of several ranks cannot be "
        "measured beside its prediction";
  }
  facts.push_back(usable);

  if (const auto quota = cgroup_cpus(); quota && *quota < static_cast<double>(cores)) {
    char text[64];
    std::snprintf(text, sizeof(text), "%.2f processors", *quota);
    facts.push_back({.id = "cpu.quota",
                     .state = State::Limited,
                     .text = text,
                     .consequence = "the cgroup stops ranks for parts of each period, which "
                                    "durations will contain; raise the quota, or use fewer cores"});
  }
}

void look_at_memory(Facts& facts) {
  const std::string meminfo = content("/proc/meminfo");
  const uint64_t total = memory_line(meminfo, "MemTotal").value_or(0);
  facts.push_back({.id = "memory.total", .text = in_bytes(total), .number = total});

  const auto limit = cgroup_memory_limit(total);
  if (limit) {
    facts.push_back(
        {.id = "memory.cgroup", .text = in_bytes(*limit) + " for this cgroup", .number = *limit});
  }
  const uint64_t available =
      std::min(memory_line(meminfo, "MemAvailable").value_or(0), limit.value_or(UINT64_MAX));
  Fact free{.id = "memory.available", .text = in_bytes(available), .number = available};
  if (available < kMemoryOfOneRank) {
    free.state = State::Limited;
    free.consequence = "importing torch alone takes 0.5 GiB in each rank that runs at a time";
  }
  facts.push_back(free);

  const uint64_t swap = memory_line(meminfo, "SwapTotal").value_or(0);
  facts.push_back(
      {.id = "memory.swap", .text = swap == 0 ? "none" : in_bytes(swap), .number = swap});
}

void look_at_limits(Facts& facts) {
  Fact memlock = limit_fact("limits.memlock", RLIMIT_MEMLOCK, true);
  if (memlock.number && has_rdma()) {
    memlock.state = State::Limited;
    memlock.consequence =
        "transports over this machine's RDMA cards may fail to register memory; "
        "raise it with 'ulimit -l unlimited'";
  }
  facts.push_back(memlock);

  Fact nofile = limit_fact("limits.nofile", RLIMIT_NOFILE, false);
  if (nofile.number && *nofile.number < kFilesOfARun) {
    nofile.state = State::Limited;
    nofile.consequence =
        "each rank that runs at a time needs some open files, and so does its "
        "program; raise it with 'ulimit -n " +
        std::to_string(kFilesOfARun) + "'";
  }
  facts.push_back(nofile);
}

void look_at_system(Facts& facts) {
  utsname names{};
  ::uname(&names);
  facts.push_back(
      {.id = "system.kernel", .text = std::string(names.sysname) + " " + names.release});
  facts.push_back({.id = "system.glibc", .text = ::gnu_get_libc_version()});

  struct statvfs disk {};
  std::error_code error;
  const std::string here = std::filesystem::current_path(error).string();
  if (error || ::statvfs(here.c_str(), &disk) != 0) {
    facts.push_back({.id = "system.disk",
                     .state = State::Limited,
                     .text = "unknown: " + std::string(std::strerror(errno)),
                     .consequence = "run directories beside an experiment may not be writable"});
    return;
  }
  const uint64_t free = uint64_t{disk.f_bavail} * disk.f_frsize;
  Fact space{.id = "system.disk", .text = in_bytes(free) + " free in " + here, .number = free};
  if (free < kDiskOfARun) {
    space.state = State::Limited;
    space.consequence =
        "run directories keep the events and logs of every rank that ran; a run "
        "stops when the disk is full";
  }
  facts.push_back(space);
}

}  // namespace prism::cli
