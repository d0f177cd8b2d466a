// SPDX-License-Identifier: Apache-2.0
/// Frames over a stream socket: what both ends need beside the codec. Header-only, POSIX and std.
#pragma once

#include <cerrno>
#include <cstddef>
#include <string_view>
#include <sys/socket.h>

#include "prism/wire/agent.hpp"

namespace prism::wire {

/// Sends all bytes, blocking. Returns 0, or the errno of the failure (EPIPE: the other end is gone;
/// no SIGPIPE is raised). Frames of one socket must not be sent by two threads at once.
inline int send_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      bytes.remove_prefix(static_cast<size_t>(sent));
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

enum class Received { Bytes, Nothing, Closed, Failed };

/// Feeds the decoder with what one recv gives; blocks when `fd` does.
/// Nothing: a non-blocking socket has no bytes now. Closed: the other end is gone, also when it
/// left bytes unread. Failed: see errno.
inline Received receive(int fd, Decoder& decoder) {
  char piece[16384];
  while (true) {
    const ssize_t count = ::recv(fd, piece, sizeof(piece), 0);
    if (count > 0) {
      decoder.feed(piece, static_cast<size_t>(count));
      return Received::Bytes;
    }
    if (count == 0 || errno == ECONNRESET) {
      return Received::Closed;
    }
    if (errno == EAGAIN || errno == EWOULDBLOCK) {
      return Received::Nothing;
    }
    if (errno != EINTR) {
      return Received::Failed;
    }
  }
}

}  // namespace prism::wire
