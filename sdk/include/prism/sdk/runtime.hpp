// SPDX-License-Identifier: Apache-2.0
/// prism.runtime/1 for a class with plain methods; what they throw becomes the status (error.hpp).
///
///   class MyRuntime {                       // one object per session
///    public:
///     static constexpr auto kOptions = prism::sdk::options(...);        // optional
///     explicit MyRuntime(const prism::sdk::OptionValues& values);
///     std::string probe(const std::vector<std::string>& env);           // lines "key=value"
///     prism::sdk::Command command(const prism::sdk::RankSpec& spec);
///     prism::sdk::Command reference_command(const prism::sdk::ReferenceSpec& spec);
///     prism::sdk::Command measure_link_command(const prism::sdk::LinkSpec& spec);
///     int stack_signal();
///   };
///   PRISM_PLUGIN(PRISM_PLUGIN_ID, PRISM_PLUGIN_VERSION, prism::sdk::Runtime<MyRuntime>)
///
/// The contract of each method is that of its function in prism/abi/draft/runtime.h.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "prism/abi/draft/runtime.h"
#include "prism/sdk/error.hpp"
#include "prism/sdk/options.hpp"
#include "prism/sdk/text.hpp"

namespace prism::sdk {

/// prism_rank_spec_t, copied.
struct RankSpec {
  uint32_t rank = 0;
  uint32_t world_size = 0;
  uint32_t local_rank = 0;
  uint32_t local_world_size = 0;
  int agent_fd = -1;
  uint64_t seed = 0;
  std::string script;  ///< absolute
  std::vector<std::string> args;
  std::vector<std::string> env;  ///< what the program would get without Prism
};

/// prism_reference_spec_t, copied.
struct ReferenceSpec {
  uint32_t world_size = 0;
  std::vector<uint32_t> cores;
  std::string marks_folder;
  std::string script;
  std::vector<std::string> args;
  std::vector<std::string> env;
};

struct LinkSpec {
  uint32_t first_core = 0;
  uint32_t second_core = 0;
  std::vector<std::string> env;
};

struct Command {
  std::vector<std::string> argv;
  std::vector<std::string> env;  ///< "NAME=value", the whole environment
};

template <typename T>
class Runtime {
  static_assert(std::constructible_from<T, const OptionValues&>,
                "a runtime needs the constructor T(const prism::sdk::OptionValues&)");
  static_assert(
      requires(T & t, const std::vector<std::string>& env) {
        { t.probe(env) } -> std::convertible_to<std::string>;
      },
      "a runtime needs the method std::string probe(const std::vector<std::string>& env)");
  static_assert(
      requires(T & t, const RankSpec& spec) {
        { t.command(spec) } -> std::same_as<Command>;
      },
      "a runtime needs the method prism::sdk::Command command(const prism::sdk::RankSpec&)");
  static_assert(
      requires(T & t, const ReferenceSpec& spec) {
        { t.reference_command(spec) } -> std::same_as<Command>;
      },
      "a runtime needs the method prism::sdk::Command reference_command(const "
      "prism::sdk::ReferenceSpec&)");
  static_assert(
      requires(T & t, const LinkSpec& spec) {
        { t.measure_link_command(spec) } -> std::same_as<Command>;
      },
      "a runtime needs the method prism::sdk::Command measure_link_command(const "
      "prism::sdk::LinkSpec&)");
  static_assert(
      requires(T & t) {
        { t.stack_signal() } -> std::same_as<int>;
      },
      "a runtime needs the method int stack_signal()");

 public:
  static constexpr std::string_view kId = PRISM_RUNTIME_1;
  static const void* table() noexcept { return &kTable; }

 private:
  using Session = prism_runtime_session_t;

  static T& self(Session* session) { return *reinterpret_cast<T*>(session); }

  static prism_status_t open(const prism_option_value_t* values, uint64_t value_count,
                             Session** session, const prism_error_sink_t* err) noexcept {
    return guarded(err, [&] {
      auto runtime =
          std::make_unique<T>(OptionValues(detail::options_of<T>(), values, value_count));
      *session = reinterpret_cast<Session*>(runtime.release());
    });
  }

  static prism_status_t probe(Session* session, const prism_str_t* env, uint64_t env_count,
                              const prism_text_sink_t* out,
                              const prism_error_sink_t* err) noexcept {
    return guarded(err, [&] { write(out, self(session).probe(copy(env, env_count))); });
  }

  static prism_status_t command(Session* session, const prism_rank_spec_t* spec,
                                const prism_command_sink_t* out,
                                const prism_error_sink_t* err) noexcept {
    return guarded(err, [&] {
      if (!PRISM_HAS(spec, prism_rank_spec_t, env_count)) {
        throw Error(PRISM_STATUS_INVALID_ARGUMENT, "the host's rank spec is of another draft");
      }
      RankSpec copied;
      copied.rank = spec->rank;
      copied.world_size = spec->world_size;
      copied.local_rank = spec->local_rank;
      copied.local_world_size = spec->local_world_size;
      copied.agent_fd = spec->agent_fd;
      copied.seed = spec->seed;
      copied.script = copy(spec->script);
      copied.args = copy(spec->args, spec->arg_count);
      copied.env = copy(spec->env, spec->env_count);
      give(self(session).command(copied), out);
    });
  }

  static prism_status_t reference_command(Session* session, const prism_reference_spec_t* spec,
                                          const prism_command_sink_t* out,
                                          const prism_error_sink_t* err) noexcept {
    return guarded(err, [&] {
      if (!PRISM_HAS(spec, prism_reference_spec_t, env_count)) {
        throw Error(PRISM_STATUS_INVALID_ARGUMENT, "the host's reference spec is of another draft");
      }
      ReferenceSpec copied;
      copied.world_size = spec->world_size;
      copied.cores.assign(spec->cores, spec->cores + spec->core_count);
      copied.marks_folder = copy(spec->marks_folder);
      copied.script = copy(spec->script);
      copied.args = copy(spec->args, spec->arg_count);
      copied.env = copy(spec->env, spec->env_count);
      give(self(session).reference_command(copied), out);
    });
  }

  static prism_status_t measure_link_command(Session* session, uint32_t first_core,
                                             uint32_t second_core, const prism_str_t* env,
                                             uint64_t env_count, const prism_command_sink_t* out,
                                             const prism_error_sink_t* err) noexcept {
    return guarded(err, [&] {
      give(self(session).measure_link_command({first_core, second_core, copy(env, env_count)}),
           out);
    });
  }

  static void give(const Command& command, const prism_command_sink_t* out) {
    for (const std::string& arg : command.argv) {
      out->arg(out->ctx, to_c(arg));
    }
    for (const std::string& name_value : command.env) {
      out->env(out->ctx, to_c(name_value));
    }
  }

  static int32_t stack_signal(Session* session) noexcept {
    int32_t signo = 0;
    guarded(nullptr, [&] { signo = self(session).stack_signal(); });
    return signo;
  }

  static void close(Session* session) noexcept { delete reinterpret_cast<T*>(session); }

  static constexpr prism_runtime_t kTable = {sizeof(prism_runtime_t),
                                             0,
                                             detail::options_of<T>(),
                                             &open,
                                             &probe,
                                             &command,
                                             &reference_command,
                                             &measure_link_command,
                                             &stack_signal,
                                             &close};
};

}  // namespace prism::sdk
