// SPDX-License-Identifier: Apache-2.0
// A program for the launcher's tests: launcher_probe WHAT [ARGUMENTS].
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace {

/// Leaves a daemon behind as data-loader workers and worse do: a session of its own, no parent.
void leave_daemon() {
  if (fork() == 0) {
    setsid();
    if (fork() == 0) {
      for (int sig = 1; sig < NSIG; ++sig) {
        signal(sig, SIG_IGN);
      }
      while (true) {
        pause();
      }
    }
    _exit(0);
  }
  wait(nullptr);
}

void print_fds() {
  for (int fd = 0; fd < 1024; ++fd) {
    if (fcntl(fd, F_GETFD) >= 0) {
      std::printf("%d ", fd);
    }
  }
}

void print_first_bytes() {
  for (int fd = 3; fd < 1024; ++fd) {
    char first = 0;
    if (pread(fd, &first, 1, 0) == 1) {
      std::printf("%d%c ", fd, first);
    }
  }
}

void print_file(const char* path) {
  if (FILE* file = std::fopen(path, "r")) {
    char line[512];
    while (std::fgets(line, sizeof(line), file) != nullptr) {
      std::fputs(line, stdout);
    }
    std::fclose(file);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "fds") {
    print_fds();
  } else if (what == "first_bytes") {
    print_first_bytes();
  } else if (what == "status") {
    print_file("/proc/self/status");
  } else if (what == "session") {
    std::printf("%d %d", getsid(0) == getpid(), getpgrp() == getpid());
  } else if (what == "arguments") {  // how many bytes arrived
    size_t bytes = 0;
    for (int i = 2; i < argc; ++i) {
      bytes += std::strlen(argv[i]) + 1;
    }
    std::printf("%d %zu", argc - 2, bytes);
  } else if (what == "daemons") {
    for (int i = std::atoi(argv[2]); i > 0; --i) {
      leave_daemon();
    }
    std::puts("ready");
    std::fflush(stdout);
    if (argc > 3) {  // stay
      while (true) {
        pause();
      }
    }
  } else {
    return 99;
  }
  return 0;
}
