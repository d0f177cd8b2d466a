// SPDX-License-Identifier: Apache-2.0
#include "prism/wire/socket.hpp"

#include <array>
#include <atomic>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

#include "tests/unit/wire/samples.hpp"

namespace prism::wire {
namespace {

class WireSocket : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends_.data()), 0);
  }
  void TearDown() override {
    close_end(0);
    close_end(1);
  }
  void close_end(size_t end) {
    if (ends_[end] >= 0) {
      ::close(ends_[end]);
      ends_[end] = -1;
    }
  }
  std::array<int, 2> ends_{-1, -1};
};

TEST_F(WireSocket, FramesBothWays) {
  std::string out;
  ASSERT_TRUE(encode({1, Hello{.rank = 5}}, out));
  ASSERT_EQ(send_all(ends_[0], out), 0);
  Decoder decoder;
  ASSERT_EQ(receive(ends_[1], decoder), Received::Bytes);
  EXPECT_EQ(decoder.next(), (Frame{1, Hello{.rank = 5}}));

  out.clear();
  ASSERT_TRUE(encode({1, Welcome{9}}, out));
  ASSERT_EQ(send_all(ends_[1], out), 0);
  Decoder answers;
  ASSERT_EQ(receive(ends_[0], answers), Received::Bytes);
  EXPECT_EQ(answers.next(), (Frame{1, Welcome{9}}));
}

void on_signal(int) {}

// A frame that is larger than any socket buffer, while signals interrupt both sides.
TEST_F(WireSocket, LargeFrameUnderSignals) {
  struct sigaction action {};
  action.sa_handler = on_signal;  // without SA_RESTART: system calls end with EINTR
  struct sigaction before {};
  ASSERT_EQ(::sigaction(SIGUSR1, &action, &before), 0);

  const Mark mark{.kind = kMarkForward, .name = std::string(15U << 20, 'm')};
  std::string out;
  ASSERT_TRUE(encode({1, mark}, out));
  std::atomic<bool> finished = false;
  int result = -1;
  std::thread sender([&] { result = send_all(ends_[0], out); });
  const pthread_t receiver = ::pthread_self();
  std::thread disturber([&] {
    while (!finished) {
      ::pthread_kill(sender.native_handle(), SIGUSR1);
      ::pthread_kill(receiver, SIGUSR1);
      std::this_thread::yield();
    }
  });

  Decoder decoder;
  std::optional<Frame> frame;
  while (!frame && receive(ends_[1], decoder) == Received::Bytes) {
    frame = decoder.next();
  }
  finished = true;
  disturber.join();
  sender.join();
  ::sigaction(SIGUSR1, &before, nullptr);
  EXPECT_EQ(result, 0);
  EXPECT_EQ(frame, (Frame{1, mark}));
}

TEST_F(WireSocket, OtherEndGone) {
  Decoder decoder;
  close_end(0);
  EXPECT_EQ(receive(ends_[1], decoder), Received::Closed);
  EXPECT_EQ(send_all(ends_[1], "x"), EPIPE);
}

TEST_F(WireSocket, OtherEndGoneWithUnreadBytes) {
  ASSERT_EQ(send_all(ends_[1], "never read"), 0);
  close_end(0);
  Decoder decoder;
  EXPECT_EQ(receive(ends_[1], decoder), Received::Closed);
}

TEST_F(WireSocket, NothingYet) {
  ASSERT_EQ(::fcntl(ends_[0], F_SETFL, O_NONBLOCK), 0);
  Decoder decoder;
  EXPECT_EQ(receive(ends_[0], decoder), Received::Nothing);
}

TEST(WireSocketErrors, NoSocket) {
  Decoder decoder;
  EXPECT_EQ(receive(-1, decoder), Received::Failed);
  EXPECT_EQ(send_all(-1, "x"), EBADF);
}

}  // namespace
}  // namespace prism::wire
