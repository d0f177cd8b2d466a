// SPDX-License-Identifier: Apache-2.0
/// What belongs to the whole process, and so to the program and all other plugins: a plugin leaves
/// it as it was.
#pragma once

#include <array>
#include <csignal>
#include <cstdint>
#include <map>
#include <string>
#include <sys/resource.h>
#include <utility>
#include <vector>

namespace prism::conformance {

class ProcessState {
 public:
  /// As it is now.
  ProcessState();
  /// What is not as it was when this was made, in words; "" when all is. Descriptors that are new
  /// are no difference.
  std::string difference() const;

 private:
  std::map<int, std::pair<uint64_t, uint64_t>> descriptors_;  ///< device and inode
  std::vector<std::string> environment_;
  std::string folder_;
  std::string locale_;
  std::array<rlimit, RLIM_NLIMITS> limits_{};
  std::array<struct sigaction, 65> actions_{};  ///< by number, from 1
  sigset_t mask_{};                             ///< of this thread
  unsigned umask_ = 0;
};

}  // namespace prism::conformance
