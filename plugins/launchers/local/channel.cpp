// SPDX-License-Identifier: Apache-2.0
#include "plugins/launchers/local/channel.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <sys/socket.h>
#include <sys/uio.h>

namespace prism::local {
namespace {

constexpr size_t kMaxFds = kOwnFds + kMaxMappedFds;

struct alignas(cmsghdr) ControlBuffer {
  std::array<char, CMSG_SPACE(kMaxFds * sizeof(int))> bytes{};
};

std::vector<UniqueFd> take_fds(msghdr& message) {
  std::vector<UniqueFd> fds;
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr;
       part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) {
      continue;
    }
    const size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(part) + i * sizeof(int), sizeof(int));
      fds.emplace_back(fd);
    }
  }
  return fds;
}

}  // namespace

bool send_message(int socket, std::span<const std::byte> head, std::string_view text,
                  std::span<const int> fds, int flags) {
  // sendmsg does not write to what it is given; its types only predate const.
  std::array<iovec, 2> parts{
      iovec{const_cast<std::byte*>(head.data()), head.size()},
      iovec{const_cast<char*>(text.data()), std::min(text.size(), kMaxReplyText)}};
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  ControlBuffer control;
  if (!fds.empty()) {
    if (fds.size() > kMaxFds) {
      errno = EINVAL;
      return false;
    }
    message.msg_control = control.bytes.data();
    message.msg_controllen = CMSG_SPACE(fds.size_bytes());
    cmsghdr* part = CMSG_FIRSTHDR(&message);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(fds.size_bytes());
    std::memcpy(CMSG_DATA(part), fds.data(), fds.size_bytes());
  }
  ssize_t sent = -1;
  do {
    sent = ::sendmsg(socket, &message, flags | MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent >= 0;
}

Received receive_message(int socket, std::span<std::byte> head, std::string* text,
                         std::vector<UniqueFd>* fds, int flags) {
  std::string tail(text != nullptr ? kMaxReplyText : 0, '\0');
  std::array<iovec, 2> parts{iovec{head.data(), head.size()}, iovec{tail.data(), tail.size()}};
  ControlBuffer control;
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  message.msg_control = control.bytes.data();
  message.msg_controllen = control.bytes.size();
  ssize_t size = -1;
  do {
    size = ::recvmsg(socket, &message, flags | MSG_CMSG_CLOEXEC);
  } while (size < 0 && errno == EINTR);
  if (size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
    return Received::Nothing;
  }
  if (size < 0) {
    return Received::Closed;
  }
  std::vector<UniqueFd> received = take_fds(message);
  const auto bytes = static_cast<size_t>(size);
  if (bytes < head.size() || (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) {
    return Received::Closed;
  }
  if (text != nullptr) {
    tail.resize(bytes - head.size());
    *text = std::move(tail);
  }
  if (fds != nullptr) {
    *fds = std::move(received);
  }
  return Received::Message;
}

}  // namespace prism::local
