// SPDX-License-Identifier: Apache-2.0
/// The rules of the experiment file for what absent peers would have sent, and the tensor sources
/// that they name.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "plugins/torch/agent/rank_plugin.hpp"
#include "plugins/torch/agent/torch_version.hpp"
#include "prism/host/tensor_source.hpp"
#include "prism/wire/agent.hpp"

namespace prism::torch_agent {

/// A tensor that this rank gets.
struct Received {
  const std::string& group;  ///< description of the communicator
  int32_t kind = 0;          ///< PRISM_COMM_
  uint64_t call = 0;         ///< prism_tensor_request_t
  int32_t peer = -1;         ///< logical rank; -1: several, or any
  uint32_t part = 0;
};

/// Thread: any; the sources are asked one at a time.
class Sources {
 public:
  static Sources& get();

  /// Once, before anything is received. A source that cannot be opened ends the process.
  void open(const std::vector<wire::SourceRule>& rules);
  /// Ends the plugins; nothing matches from here on. Does nothing while another thread fills.
  void close();

  bool any() const { return !rules_.empty(); }

  /// Writes `out` as the first rule that matches says, and gives the id of its tensor source; null:
  /// none matches and `out` is as it was. A source that fails ends the process with a message.
  const std::string* fill(const at::Tensor& out, const Received& received);

 private:
  struct Rule {
    wire::SourceRule says;
    std::shared_ptr<host::Library> library;  // outlives the source
    std::unique_ptr<host::TensorSource> source;
  };

  Sources() = default;
  static bool matches(const wire::SourceRule& rule, const at::Tensor& out,
                      const Received& received);
  static void write(const Rule& rule, const at::Tensor& out, const Received& received);

  std::mutex mutex_;  // of calls of the sources
  std::vector<Rule> rules_;
};

}  // namespace prism::torch_agent
