// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <sys/types.h>

#include "plugins/launchers/local/channel.hpp"

namespace prism::local {

/// The plugin's side of a guard: starts it, talks to it, ends it. Throws prism::sdk::Error.
class GuardClient {
 public:
  /// `isolation`: "auto", "namespace" or "subreaper".
  explicit GuardClient(const std::string& isolation);
  /// Returns when the guard and everything under it have ended, at the latest after some seconds.
  ~GuardClient();
  GuardClient(const GuardClient&) = delete;
  GuardClient& operator=(const GuardClient&) = delete;

  /// How processes are kept together.
  const std::string& description() const { return description_; }
  /// Sends a request and waits for its reply; the number of the process that it is about.
  uint64_t call(const Request& request, std::span<const int> fds);
  int event_fd() const { return events_.get(); }
  std::optional<Exit> next_exit();

 private:
  void start(const std::string& isolation);
  void end() noexcept;

  UniqueFd control_;
  UniqueFd events_;
  pid_t pid_ = -1;
  std::string description_;
};

}  // namespace prism::local
