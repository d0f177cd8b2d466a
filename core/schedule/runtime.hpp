// SPDX-License-Identifier: Apache-2.0
/// Knows how a logical rank of the user's program is started and intercepted. core/plugin adapts
/// `prism.runtime/1` to this. Thread: one at a time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/status.hpp"

namespace prism::schedule {

struct RankSpec {
  Rank rank = 0;
  uint32_t world_size = 0;
  uint32_t local_rank = 0;
  uint32_t local_world_size = 1;
  int agent_fd = -1;  ///< number in the child
  uint64_t seed = 0;
  std::string script;  ///< absolute
  std::vector<std::string> args;
  std::vector<std::string> env;  ///< what the program would get without Prism
};

/// The program for real, all ranks on this machine; see prism/abi/draft/runtime.h.
struct ReferenceSpec {
  uint32_t world_size = 0;
  std::vector<uint32_t> cores;  ///< rank r runs on core r modulo their number
  std::string marks_folder;     ///< exists; rank r writes its marks to "marks.r"
  std::string script;
  std::vector<std::string> args;
  std::vector<std::string> env;
};

struct Command {
  std::vector<std::string> argv;
  std::vector<std::string> env;
};

class Runtime {
 public:
  virtual ~Runtime() = default;
  /// Checks what ranks will need; lines "key=value" of the versions in use.
  virtual Result<std::string> probe(const std::vector<std::string>& env) = 0;
  virtual Result<Command> command(const RankSpec& spec) = 0;
  virtual Result<Command> reference_command(const ReferenceSpec& spec) = 0;
  /// A program that prints the figures of the link between two processes on these cores.
  virtual Result<Command> measure_link_command(uint32_t first_core, uint32_t second_core,
                                               const std::vector<std::string>& env) = 0;
  /// The signal that makes a rank write the stacks of its threads to standard error.
  virtual int stack_signal() = 0;
};

}  // namespace prism::schedule
