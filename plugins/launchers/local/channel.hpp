// SPDX-License-Identifier: Apache-2.0
/// Messages between the plugin and its guard.
///
/// Two socket pairs (SOCK_SEQPACKET): `control` carries one Request at a time and its Reply,
/// `events` carries an Exit for every process that ended. The first Reply comes without a Request
/// and says whether the guard could be set up. The end of either socket ends the guard and all
/// processes under it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/launchers/local/unique_fd.hpp"

namespace prism::local {

enum class RequestKind : uint32_t {
  Spawn = 1,   ///< descriptors: launch request (memfd), stdout, stderr, then the mapped ones
  Signal = 2,  ///< sends `signo` to `process`
};

struct Request {
  RequestKind kind;
  int32_t signo;
  uint64_t process;
};

/// Followed by a text of at most kMaxReplyText bytes: why it failed; in the first one, how
/// processes are kept together.
struct Reply {
  int32_t status;
  uint32_t reserved;
  uint64_t process;
};

struct Exit {
  uint64_t process;
  int32_t exit_code;
  int32_t signal;
};

inline constexpr size_t kMaxReplyText = 3500;
/// The kernel passes at most 253 descriptors with one message; three are ours.
inline constexpr size_t kOwnFds = 3;
inline constexpr size_t kMaxMappedFds = 250;

/// Sends `head` and `text` as one message together with `fds`. False with errno on failure,
/// EPIPE when the other side is gone.
bool send_message(int socket, std::span<const std::byte> head, std::string_view text,
                  std::span<const int> fds, int flags);

enum class Received { Message, Nothing, Closed };

/// One message: fixed head, text, descriptors. `Nothing` only with MSG_DONTWAIT. A message that
/// does not fit (cut, shorter than the head) counts as Closed: the peer is not ours.
Received receive_message(int socket, std::span<std::byte> head, std::string* text,
                         std::vector<UniqueFd>* fds, int flags);

template <typename T>
bool send_message(int socket, const T& head, std::string_view text = {},
                  std::span<const int> fds = {}, int flags = 0) {
  return send_message(socket, std::as_bytes(std::span(&head, 1)), text, fds, flags);
}

template <typename T>
Received receive_message(int socket, T& head, std::string* text = nullptr,
                         std::vector<UniqueFd>* fds = nullptr, int flags = 0) {
  return receive_message(socket, std::as_writable_bytes(std::span(&head, 1)), text, fds, flags);
}

}  // namespace prism::local
