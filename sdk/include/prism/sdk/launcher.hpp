// SPDX-License-Identifier: Apache-2.0
/// prism.launcher/1 for a class with plain methods; what they throw becomes the status (error.hpp).
///
///   class MyLauncher {                      // one object per session
///    public:
///     static constexpr auto kOptions = prism::sdk::options(...);        // optional
///     explicit MyLauncher(const prism::sdk::OptionValues& values);      // starts the guard
///     ~MyLauncher();                        // ends all processes, returns when they are gone
///     std::string describe();
///     uint64_t spawn(const prism::sdk::LaunchSpec& spec);
///     void signal(uint64_t process, int signo);
///     int event_fd();
///     std::optional<prism::sdk::ProcessExit> next_exit();               // nothing: none now
///   };
///   PRISM_PLUGIN(PRISM_PLUGIN_ID, PRISM_PLUGIN_VERSION, prism::sdk::Launcher<MyLauncher>)
///
/// The contract of each method is that of its function in prism/abi/draft/launcher.h.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "prism/abi/draft/launcher.h"
#include "prism/sdk/error.hpp"
#include "prism/sdk/options.hpp"
#include "prism/sdk/text.hpp"

namespace prism::sdk {

/// prism_launch_spec_t, copied.
struct LaunchSpec {
  std::vector<std::string> argv;
  std::vector<std::string> env;  ///< "NAME=value", the whole environment
  std::string cwd;
  std::string stdout_path;
  std::string stderr_path;
  std::vector<uint32_t> cores;  ///< none: all
  std::vector<prism_fd_map_t> fds;
  std::string node;  ///< empty: this machine
};

struct ProcessExit {
  uint64_t process = 0;
  int exit_code = 0;  ///< valid when signal is 0
  int signal = 0;
};

template <typename T>
class Launcher {
  static_assert(std::constructible_from<T, const OptionValues&>,
                "a launcher needs the constructor T(const prism::sdk::OptionValues&)");
  static_assert(
      requires(T & t) {
        { t.describe() } -> std::convertible_to<std::string>;
      },
      "a launcher needs the method std::string describe()");
  static_assert(
      requires(T & t, const LaunchSpec& spec) {
        { t.spawn(spec) } -> std::same_as<uint64_t>;
      },
      "a launcher needs the method uint64_t spawn(const prism::sdk::LaunchSpec&)");
  static_assert(
      requires(T & t, uint64_t process, int signo) {
        { t.signal(process, signo) } -> std::same_as<void>;
      },
      "a launcher needs the method void signal(uint64_t process, int signo)");
  static_assert(
      requires(T & t) {
        { t.event_fd() } -> std::same_as<int>;
      },
      "a launcher needs the method int event_fd()");
  static_assert(
      requires(T & t) {
        { t.next_exit() } -> std::same_as<std::optional<ProcessExit>>;
      },
      "a launcher needs the method std::optional<prism::sdk::ProcessExit> next_exit()");

 public:
  static constexpr std::string_view kId = PRISM_LAUNCHER_1;
  static const void* table() noexcept { return &kTable; }

 private:
  using Session = prism_launcher_session_t;

  static T& self(Session* session) { return *reinterpret_cast<T*>(session); }

  static prism_status_t open(const prism_option_value_t* values, uint64_t value_count,
                             Session** session, const prism_error_sink_t* err) noexcept {
    return guarded(err, [&] {
      auto launcher =
          std::make_unique<T>(OptionValues(detail::options_of<T>(), values, value_count));
      *session = reinterpret_cast<Session*>(launcher.release());
    });
  }

  static void describe(Session* session, const prism_text_sink_t* out) noexcept {
    guarded(nullptr, [&] { write(out, self(session).describe()); });
  }

  static prism_status_t spawn(Session* session, const prism_launch_spec_t* spec, uint64_t* process,
                              const prism_error_sink_t* err) noexcept {
    return guarded(err, [&] {
      if (!PRISM_HAS(spec, prism_launch_spec_t, node)) {
        throw Error(PRISM_STATUS_INVALID_ARGUMENT, "the host's launch spec is of another draft");
      }
      LaunchSpec copied;
      copied.argv = copy(spec->argv, spec->argc);
      copied.env = copy(spec->env, spec->envc);
      copied.cwd = copy(spec->cwd);
      copied.stdout_path = copy(spec->stdout_path);
      copied.stderr_path = copy(spec->stderr_path);
      copied.cores.assign(spec->cores, spec->cores + spec->core_count);
      copied.fds.assign(spec->fds, spec->fds + spec->fd_count);
      copied.node = copy(spec->node);
      *process = self(session).spawn(copied);
    });
  }

  static prism_status_t signal(Session* session, uint64_t process, int32_t signo,
                               const prism_error_sink_t* err) noexcept {
    return guarded(err, [&] { self(session).signal(process, signo); });
  }

  static int32_t event_fd(Session* session) noexcept {
    int32_t fd = -1;
    guarded(nullptr, [&] { fd = self(session).event_fd(); });
    return fd;
  }

  static prism_status_t next_exit(Session* session, prism_process_exit_t* out,
                                  const prism_error_sink_t* err) noexcept {
    return guarded(err, [&]() -> prism_status_t {
      if (!PRISM_HAS(out, prism_process_exit_t, signal)) {
        throw Error(PRISM_STATUS_INVALID_ARGUMENT, "the host's process exit is of another draft");
      }
      const std::optional<ProcessExit> ended = self(session).next_exit();
      if (!ended) {
        return PRISM_STATUS_NOT_FOUND;  // the usual answer, not an error: nothing to report
      }
      out->process = ended->process;
      out->exit_code = ended->exit_code;
      out->signal = ended->signal;
      return PRISM_STATUS_OK;
    });
  }

  static void close(Session* session) noexcept { delete reinterpret_cast<T*>(session); }

  static constexpr prism_launcher_t kTable = {sizeof(prism_launcher_t),
                                              0,
                                              detail::options_of<T>(),
                                              &open,
                                              &describe,
                                              &spawn,
                                              &signal,
                                              &event_fd,
                                              &next_exit,
                                              &close};
};

}  // namespace prism::sdk
