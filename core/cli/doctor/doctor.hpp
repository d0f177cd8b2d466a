// SPDX-License-Identifier: Apache-2.0
/// `prism doctor`: what this machine has, and what each missing piece disables.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace prism::cli {

enum class State : uint8_t {
  Ok,
  Limited,  ///< there, with a limit that matters
  Absent,   ///< not there: something optional is off
  Needed,   ///< not there or broken, and nothing can be run without it
};

/// One thing that was looked at.
struct Fact {
  std::string id;  ///< "memory.total"; stable, the part before the dot is its section
  State state = State::Ok;
  std::string text{};                ///< what was found, for people
  std::optional<uint64_t> number{};  ///< the same where it is a figure: bytes, or a count
  std::string consequence{};         ///< what is disabled, and what to do; empty when Ok
};

struct DoctorReport {
  std::vector<Fact> facts;  ///< in the order of printing
  /// Whether ranks can be run on the CPU of this machine: no fact is Needed.
  bool ready() const;
  /// 0, or 4 (environment) when not ready.
  int exit_code() const { return ready() ? 0 : 4; }
};

struct DoctorOptions {
  std::string program_folder;      ///< where `prism` lies: its plugins are found from there
  std::string python = "python3";  ///< looked up in PATH when it has no slash
  std::chrono::milliseconds timeout{20'000};  ///< for each program that is asked
};

/// Looks at this machine, under the current environment and working folder. Takes about a second:
/// Python and the libraries of the GPU are tried in child processes, which cannot hurt this one.
/// Call it while the process has one thread.
DoctorReport collect(const DoctorOptions& options);

/// A table, and a line that says whether ranks can be run; ends with a newline.
std::string render_text(const DoctorReport& report);

/// {"schema": 1, "ready": true, "facts": [{"id", "state", "text", "number", "consequence"}]}:
/// `state` is "ok", "limited", "absent" or "needed"; `number` (bytes, or a count) and `consequence`
/// are left out where there is none.
std::string render_json(const DoctorReport& report);

}  // namespace prism::cli
