// SPDX-License-Identifier: Apache-2.0
#include "plugins/launchers/local/guard/descendants.hpp"

#include <array>
#include <charconv>
#include <csignal>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <map>
#include <string>
#include <string_view>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "plugins/launchers/local/unique_fd.hpp"

namespace prism::local {
namespace {

bool parse_pid(std::string_view text, pid_t& pid) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), pid);
  return error == std::errc() && end == text.data() + text.size();
}

/// Parent of a process by /proc/PID/stat: "PID (name) STATE PPID ..."; the name may contain
/// anything, so the last parenthesis counts.
bool parent_of(const std::string& pid, pid_t& parent) {
  const UniqueFd file(::open(("/proc/" + pid + "/stat").c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) {
    return false;
  }
  std::array<char, 512> buffer{};
  const ssize_t size = ::read(file.get(), buffer.data(), buffer.size());
  if (size <= 0) {
    return false;
  }
  std::string_view stat(buffer.data(), static_cast<size_t>(size));
  const size_t name_end = stat.rfind(')');
  if (name_end == std::string_view::npos || stat.size() < name_end + 5) {
    return false;
  }
  stat.remove_prefix(name_end + 4);
  return parse_pid(stat.substr(0, stat.find(' ')), parent);
}

std::vector<pid_t> descendants() {
  std::multimap<pid_t, pid_t> children;
  if (DIR* proc = ::opendir("/proc")) {
    while (const dirent* entry = ::readdir(proc)) {
      pid_t pid = 0;
      pid_t parent = 0;
      if (parse_pid(entry->d_name, pid) && parent_of(entry->d_name, parent)) {
        children.emplace(parent, pid);
      }
    }
    ::closedir(proc);
  }
  std::vector<pid_t> found;
  std::vector<pid_t> to_visit{::getpid()};
  while (!to_visit.empty()) {
    const auto [first, last] = children.equal_range(to_visit.back());
    to_visit.pop_back();
    for (auto child = first; child != last; ++child) {
      found.push_back(child->second);
      to_visit.push_back(child->second);
    }
    children.erase(first, last);  // a pid may be reused while /proc is read: no cycles
  }
  return found;
}

/// Reaps what has ended. True when no child is left; as orphans become children of a subreaper,
/// there is no descendant then either.
bool reap_all() {
  pid_t pid = 0;
  do {
    pid = ::waitpid(-1, nullptr, WNOHANG);
  } while (pid > 0);
  return pid < 0;
}

}  // namespace

void kill_descendants(std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (!reap_all() && std::chrono::steady_clock::now() < deadline) {
    for (const pid_t pid : descendants()) {
      ::kill(pid, SIGKILL);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace prism::local
