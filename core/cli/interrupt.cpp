// SPDX-License-Identifier: Apache-2.0
#include "core/cli/interrupt.hpp"

#include <csignal>
#include <cstdint>
#include <sys/eventfd.h>
#include <unistd.h>

namespace prism::cli {
namespace {

int event_fd = -1;
volatile std::sig_atomic_t came = 0;

void on_signal(int) {
  came = 1;
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(event_fd, &one, sizeof one);
}

}  // namespace

int catch_interrupts() {
  event_fd = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  ::sigaction(SIGHUP, &action, nullptr);  // the terminal was closed
  return event_fd;
}

bool interrupted() {
  return came != 0;
}

}  // namespace prism::cli
