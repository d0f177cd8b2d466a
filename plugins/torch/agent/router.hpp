// SPDX-License-Identifier: Apache-2.0
/// The router plugin of the experiment, for hooks in the program (python/prism_router.py).
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include "plugins/torch/agent/rank_plugin.hpp"
#include "plugins/torch/agent/torch_version.hpp"
#include "prism/host/router.hpp"
#include "prism/wire/agent.hpp"

namespace prism::torch_agent {

/// prism_routing_request_t, as Python gives it.
struct Routing {
  int64_t tokens = 0;
  int64_t experts = 0;
  int64_t top_k = 0;
  int64_t layer = 0;
  int64_t micro_batch = 0;
};

/// What a router cannot do raises c10::Error, an exception in Python. Thread: any; the router is
/// asked one question at a time.
class RankRouter {
 public:
  static RankRouter& get();

  /// Once. A router that cannot be opened ends the process.
  void open(const std::optional<wire::Plugin>& plugin);
  /// Ends the plugin. Does nothing while another thread asks it.
  void close();
  bool available() const { return router_ != nullptr; }

  at::Tensor counts(const Routing& routing);  ///< int64 [experts]
  /// What each of `ranks` sends to the experts of this one, where the experts lie on them evenly
  /// and in order: int64 [ranks, experts / ranks]. A router is a pure function: what a peer would
  /// be told needs no peer.
  at::Tensor received(const Routing& routing, at::IntArrayRef ranks);
  at::Tensor assign(const Routing& routing);  ///< int64 [tokens, top_k], the heaviest first
  /// [tokens, experts] of `dtype`, float32 or bfloat16.
  at::Tensor logits(const Routing& routing, at::ScalarType dtype);

 private:
  RankRouter() = default;
  void write_counts(const prism_routing_request_t& request, std::vector<uint64_t>& counts);
  void write_experts(const prism_routing_request_t& request, std::vector<uint32_t>& experts);

  std::mutex mutex_;
  std::shared_ptr<host::Library> library_;  // outlives the router
  std::unique_ptr<host::Router> router_;
};

}  // namespace prism::torch_agent
