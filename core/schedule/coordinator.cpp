// SPDX-License-Identifier: Apache-2.0
#include "core/schedule/coordinator.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <deque>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <poll.h>
#include <set>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

#include "core/base/file.hpp"
#include "core/base/log.hpp"
#include "core/schedule/log_tail.hpp"
#include "core/schedule/recording.hpp"
#include "prism/host/call_notes.hpp"
#include "prism/wire/socket.hpp"
#include "sdk/child/memory_file.hpp"

namespace prism::schedule {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kAgentFd = 3;  // in the child
constexpr int kCallNotesFd = 4;
constexpr auto kStackTime = std::chrono::seconds(3);
constexpr size_t kTailLines = 15;

/// A rank that is running.
class LiveRank {
 public:
  LiveRank(const RankRun& run, uint32_t core) : run_(run), core_(core), last_event_(Clock::now()) {}
  LiveRank(const LiveRank&) = delete;
  LiveRank& operator=(const LiveRank&) = delete;
  ~LiveRank() {
    if (socket_ >= 0) {
      ::close(socket_);
    }
  }

  Status start(Launcher& launcher, Runtime& runtime) {
    int pair[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
      return run_error(std::string("cannot make a socket pair: ") + std::strerror(errno),
                       Code::ResourceExhausted);
    }
    socket_ = pair[0];
    Status status = spawn(pair[1], launcher, runtime);
    ::close(pair[1]);
    return std::move(status).context("starting " + name());
  }

  /// Reads what has come and answers it. False: the rank has closed its side.
  Result<bool> receive(VerdictPolicy& policy) {
    char buffer[1 << 16];
    const ssize_t n = ::recv(socket_, buffer, sizeof buffer, MSG_DONTWAIT);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) {
      return true;
    }
    if (n <= 0) {  // a reset is an end too: the exit of the process tells the rest
      closed_ = true;
      return false;
    }
    last_event_ = Clock::now();
    events_.write(buffer, n);
    decoder_.feed(buffer, static_cast<size_t>(n));
    while (auto frame = decoder_.next()) {
      PRISM_TRY(handle(*frame, policy));
    }
    if (!decoder_.error().empty()) {
      return run_error(name() + " sent what is no message of an agent: " + decoder_.error(),
                       Code::DataLoss);
    }
    return true;
  }

  Status flush() {
    events_.flush();
    if (!events_) {
      return run_error("cannot write '" + events_path() + "': is the disk full?",
                       Code::ResourceExhausted);
    }
    return {};
  }

  /// What its end means. `exit`: how its process ended.
  Status verdict_on(const ProcessExit& exit) const {
    PRISM_TRY(blame_plugin(exit));
    const std::string logs = "\n  its output: " + run_.folder + "/{stdout,stderr}";
    const std::string last =
        (last_op_ ? "\n  last operation: " + describe_operation(*last_op_, groups_)
                  : std::string()) +
        made_up_text();
    if (exit.signal != 0) {
      std::string text = name() + " was killed by signal " + std::to_string(exit.signal) + " (" +
                         ::strsignal(exit.signal) + ")";
      if (exit.signal == SIGKILL) {
        text +=
            ": nobody but the kernel or you would do that; is the machine out of memory, or does a "
            "limit of this shell end it (ulimit -a)?";
      }
      return run_error(text + last + foreign_code() + with_stderr() + logs);
    }
    if (bye_ && bye_->reason == wire::kByeException) {
      return run_error(name() + " raised an exception:\n" + indent(bye_->detail) + last + logs);
    }
    if (exit.exit_code != 0) {
      const bool asked = bye_ && bye_->reason == wire::kByeSystemExit;
      return run_error(name() + (asked ? " called sys.exit" : " ended") + " with exit code " +
                       std::to_string(exit.exit_code) +
                       (asked && !bye_->detail.empty() ? ": " + bye_->detail : "") + last +
                       (asked ? std::string() : with_stderr()) + logs);
    }
    if (!greeted_) {
      return run_error(
          name() + " ended well but was never intercepted: does the script import torch?" + logs);
    }
    if (!bye_) {
      return run_error(name() +
                       " ended with exit code 0 before its agent could say so: the script"
                       " calls os._exit, and what it did last may be missing" +
                       last + logs);
    }
    return {};
  }

  /// A script that fails may do so because of what it was told.
  std::string made_up_text() const {
    return made_up_ == 0 ? ""
                         : "\n  before that it got " + std::to_string(made_up_) +
                               (made_up_ == 1 ? " value" : " values") +
                               " that no peer has sent; if it failed because of them, say better "
                               "ones with [[collect.rule]] (docs/made-up-values.md)";
  }

  Status hang_error(std::chrono::nanoseconds timeout) const {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(timeout).count();
    const std::string last = last_op_ ? describe_operation(*last_op_, groups_) : "none";
    return run_error(
        name() + " has done nothing that its agent can see for " + std::to_string(seconds) +
            " s ([collect] timeout); last operation: " + last +
            (last_op_ ? ""
                      : "\n  processes that the script starts itself are not seen: what torchrun "
                        "would start is a rank") +
            "\n  where its threads are:\n" + indent(log_tail(run_.folder + "/stderr", 60)) +
            foreign_code() + "\n  its output: " + run_.folder + "/{stdout,stderr}",
        Code::DeadlineExceeded);
  }

  std::string name() const {
    return "rank " + std::to_string(run_.spec.rank) +
           (run_.repeat > 1 ? " (repeat " + std::to_string(run_.repeat) + ")" : "");
  }
  const RankRun& run() const { return run_; }
  uint32_t core() const { return core_; }
  int socket() const { return socket_; }
  bool closed() const { return closed_; }
  ProcessId process() const { return process_; }
  Clock::time_point last_event() const { return last_event_; }
  uint64_t communications() const { return communications_; }
  std::optional<ProcessExit> ended;  ///< how its process ended

 private:
  std::string events_path() const { return run_.folder + "/events"; }

  /// What plugin the rank is inside of, else those that worked in it: they may be to blame for a
  /// crash or a hang.
  std::string foreign_code() const {
    if (const std::string call = running_call(); !call.empty()) {
      return "\n  inside a plugin: " + call;
    }
    std::set<std::string> ids;
    for (const wire::SourceRule& rule : run_.welcome.rules) {
      ids.insert(rule.source.id);
    }
    if (run_.welcome.router) {
      ids.insert(run_.welcome.router->id);
    }
    std::string text;
    for (const std::string& id : ids) {
      text += (text.empty() ? "\n  plugins in the rank: " : ", ") + id;
    }
    return text;
  }

  /// "plugin 'zipf' (libprism_zipf.so 0.1.0): counts()"; empty while no plugin runs in the rank.
  std::string running_call() const {
    return call_notes_ ? host::running_call(*call_notes_->get(), pid_) : std::string();
  }

  /// Not ok where the rank ended before a function of a plugin came back, whatever its exit code.
  /// SIGKILL comes from outside.
  Status blame_plugin(const ProcessExit& exit) const {
    const std::string call = running_call();
    if (call.empty() || exit.signal == SIGKILL) {
      return {};
    }
    const std::string how =
        exit.signal != 0
            ? "signal " + std::to_string(exit.signal) + " (" + ::strsignal(exit.signal) + ")"
            : "it ended the process with exit code " + std::to_string(exit.exit_code);
    return plugin_error(call + " did not come back in " + name() + ": " + how + with_stderr() +
                        "\n  its output: " + run_.folder + "/{stdout,stderr}");
  }

  std::string with_stderr() const {
    const std::string text = log_tail(run_.folder + "/stderr", kTailLines);
    return text.empty() ? text : "\n  last lines of its standard error:\n" + indent(text);
  }

  Status spawn(int child_socket, Launcher& launcher, Runtime& runtime) {
    // What an earlier run left there, a pipe say, is not written to.
    std::error_code ignored;
    std::filesystem::remove(events_path(), ignored);
    errno = 0;
    events_.open(events_path(), std::ios::binary | std::ios::trunc);
    if (!events_) {
      return run_error("cannot write '" + events_path() + "': " + std::strerror(errno),
                       Code::PermissionDenied);
    }
    RankSpec spec = run_.spec;
    spec.agent_fd = kAgentFd;
    PRISM_TRY_ASSIGN(Command command, runtime.command(spec));
    LaunchSpec launch;
    launch.argv = std::move(command.argv);
    launch.env = std::move(command.env);
    launch.cwd = run_.cwd;
    launch.stdout_path = run_.folder + "/stdout";
    launch.stderr_path = run_.folder + "/stderr";
    launch.cores = {core_};
    launch.fds = {{child_socket, kAgentFd}};
    const child::MemoryFile notes("prism-call-notes");
    if (!run_.welcome.rules.empty() || run_.welcome.router) {
      const bool sized = ::ftruncate(notes.fd(), sizeof(host::CallNotes)) == 0;
      call_notes_.emplace(notes.fd());
      if (!sized || !*call_notes_) {
        return run_error("no memory to share with a rank", Code::ResourceExhausted);
      }
      launch.fds.emplace_back(notes.fd(), kCallNotesFd);
      launch.env.push_back("PRISM_AGENT_CALL_NOTES_FD=" + std::to_string(kCallNotesFd));
    }
    PRISM_TRY_ASSIGN(process_, launcher.spawn(launch));
    return {};
  }

  Status handle(const wire::Frame& frame, VerdictPolicy& policy) {
    if (!greeted_) {
      const auto* hello = std::get_if<wire::Hello>(&frame.message);
      if (hello == nullptr || hello->rank != run_.spec.rank ||
          hello->world_size != run_.spec.world_size) {
        return run_error(name() + " did not begin with its own number and world size",
                         Code::DataLoss);
      }
      greeted_ = true;
      pid_ = static_cast<int64_t>(hello->pid);
      return reply(run_.welcome);
    }
    if (const auto* op = std::get_if<wire::Op>(&frame.message)) {
      ++communications_;
      last_op_ = *op;
      return reply(wire::Verdict{frame.seq, policy.decide(run_.spec.rank, frame.message), {}});
    }
    if (std::holds_alternative<wire::Wait>(frame.message)) {
      return reply(wire::Verdict{frame.seq, policy.decide(run_.spec.rank, frame.message), {}});
    }
    if (const auto* done = std::get_if<wire::Done>(&frame.message)) {
      made_up_ += done->made_up.size();
    } else if (const auto* group = std::get_if<wire::Group>(&frame.message)) {
      groups_.push_back(*group);
    } else if (const auto* bye = std::get_if<wire::Bye>(&frame.message)) {
      bye_ = *bye;
    }
    return {};
  }

  Status reply(wire::Message message) {
    std::string bytes;
    PRISM_ASSERT(wire::encode({++sent_, std::move(message)}, bytes));
    wire::send_all(socket_, bytes);  // a failure means that the rank has gone; its exit tells why
    return {};
  }

  const RankRun& run_;
  uint32_t core_;
  int socket_ = -1;
  bool closed_ = false;
  ProcessId process_ = 0;
  std::ofstream events_;
  wire::Decoder decoder_;
  uint64_t sent_ = 0;
  bool greeted_ = false;
  int64_t pid_ = 0;  ///< as the rank sees it, which may be in a namespace of its own
  std::optional<child::Shared<host::CallNotes>> call_notes_;  ///< where plugins work in the rank
  Clock::time_point last_event_;
  uint64_t communications_ = 0;
  uint64_t made_up_ = 0;  ///< values that no peer has sent
  std::vector<wire::Group> groups_;
  std::optional<wire::Op> last_op_;
  std::optional<wire::Bye> bye_;
};

class Coordinator {
 public:
  Coordinator(Launcher& launcher, Runtime& runtime, VerdictPolicy& policy,
              const CoordinatorOptions& options, const Progress& progress)
      : launcher_(launcher),
        runtime_(runtime),
        policy_(policy),
        options_(options),
        progress_(progress),
        free_cores_(options.cores.rbegin(), options.cores.rend()) {}

  Status run(const std::vector<RankRun>& runs) {
    std::deque<const RankRun*> waiting;
    for (const RankRun& one : runs) {
      waiting.push_back(&one);
    }
    while (!waiting.empty() || !live_.empty()) {
      PRISM_TRY(start_what_can(waiting));
      PRISM_TRY(wait_and_serve());
      PRISM_TRY(collect_exits());
      PRISM_TRY(retire());
      PRISM_TRY(check_hangs());
    }
    return {};
  }

 private:
  Status start_what_can(std::deque<const RankRun*>& waiting) {
    for (auto it = waiting.begin(); it != waiting.end() && !free_cores_.empty();) {
      const RankRun& run = **it;
      const auto core = run.core ? std::find(free_cores_.begin(), free_cores_.end(), *run.core)
                                 : std::prev(free_cores_.end());
      if (core == free_cores_.end()) {
        ++it;
        continue;
      }
      PRISM_TRY(start(run, *core));
      free_cores_.erase(core);
      it = waiting.erase(it);
    }
    return {};
  }

  Status start(const RankRun& run, uint32_t core) {
    auto rank = std::make_unique<LiveRank>(run, core);
    PRISM_TRY(rank->start(launcher_, runtime_));
    if (progress_.started) {
      progress_.started(run);
    }
    live_.push_back(std::move(rank));
    return {};
  }

  Status wait_and_serve() {
    std::vector<pollfd> polled;
    polled.push_back({options_.interrupt_fd, POLLIN, 0});
    polled.push_back({launcher_.event_fd(), POLLIN, 0});
    for (const auto& rank : live_) {
      polled.push_back({rank->closed() ? -1 : rank->socket(), POLLIN, 0});
    }
    if (::poll(polled.data(), polled.size(), kPollMs) < 0 && errno != EINTR) {
      return run_error(std::string("poll: ") + std::strerror(errno), Code::Unavailable);
    }
    if (polled[0].revents != 0) {
      return {Code::Cancelled, Domain::Interrupted, "interrupted; what was finished is kept"};
    }
    for (size_t i = 0; i < live_.size(); ++i) {
      if (polled[i + 2].revents != 0) {
        PRISM_TRY_ASSIGN([[maybe_unused]] const bool open, live_[i]->receive(policy_));
        if (progress_.advanced) {
          progress_.advanced(live_[i]->run(), live_[i]->communications());
        }
      }
    }
    return {};
  }

  Status collect_exits() {
    while (true) {
      PRISM_TRY_ASSIGN(const std::optional<ProcessExit> exit, launcher_.next_exit());
      if (!exit) {
        return {};
      }
      for (const auto& rank : live_) {
        if (rank->process() == exit->process) {
          rank->ended = exit;
        }
      }
    }
  }

  /// Takes ranks that have ended off their cores.
  Status retire() {
    for (size_t i = 0; i < live_.size();) {
      LiveRank& rank = *live_[i];
      if (!rank.ended) {
        ++i;
        continue;
      }
      // The socket may still hold what the rank said last. A process that it left behind may keep
      // the other end open, so read only what is there now.
      while (!rank.closed() && readable(rank.socket())) {
        PRISM_TRY_ASSIGN([[maybe_unused]] const bool open, rank.receive(policy_));
      }
      PRISM_TRY(rank.flush());
      PRISM_TRY(rank.verdict_on(*rank.ended));
      if (progress_.finished) {
        progress_.finished(rank.run());
      }
      free_cores_.push_back(rank.core());
      live_.erase(live_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    return {};
  }

  static bool readable(int fd) {
    pollfd polled{fd, POLLIN, 0};
    return ::poll(&polled, 1, 0) > 0;
  }

  Status check_hangs() {
    for (const auto& rank : live_) {
      if (Clock::now() - rank->last_event() < options_.timeout) {
        continue;
      }
      if (launcher_.signal(rank->process(), runtime_.stack_signal()).ok()) {
        ::poll(nullptr, 0, static_cast<int>(std::chrono::milliseconds(kStackTime).count()));
      }
      return rank->hang_error(options_.timeout);
    }
    return {};
  }

  static constexpr int kPollMs = 200;

  Launcher& launcher_;
  Runtime& runtime_;
  VerdictPolicy& policy_;
  const CoordinatorOptions& options_;
  const Progress& progress_;
  std::vector<uint32_t> free_cores_;
  std::vector<std::unique_ptr<LiveRank>> live_;
};

}  // namespace

Status run_ranks(const std::vector<RankRun>& runs, Launcher& launcher, Runtime& runtime,
                 VerdictPolicy& policy, const CoordinatorOptions& options,
                 const Progress& progress) {
  PRISM_ASSERT(!options.cores.empty());
  return Coordinator(launcher, runtime, policy, options, progress).run(runs);
}

}  // namespace prism::schedule
