// SPDX-License-Identifier: Apache-2.0
/// Which micro-batch and chunk a message is of, and which rank its peer is. The traces do not say;
/// but a rank sends and receives in the order in which it computes.
#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include "job.hpp"

#include "prism/abi/draft/format.h"
#include "prism/sdk/error.hpp"

namespace prism::microbatch {
namespace {

constexpr std::array kSides{std::pair{Members::Previous, -1}, std::pair{Members::Next, 1}};

class Labels {
 public:
  explicit Labels(Job& job) : job_(job) {
    for (const Worker& worker : job.trace.workers) {
      stages_ = std::max(stages_, worker.stage + 1);
    }
    for (uint32_t w = 0; w < job.trace.workers.size(); ++w) {
      const Worker& worker = job.trace.workers[w];
      worker_at_[{worker.stage, worker.data, worker.tensor}] = w;
    }
    find_chunks();
  }

  void label_all() {
    for (uint32_t worker = 0; worker < job_.programs.size(); ++worker) {
      std::vector<Node>& nodes = job_.programs[worker].nodes;
      for (size_t begin = 0; begin < nodes.size();) {
        size_t end = begin;
        while (end < nodes.size() && nodes[end].iteration == nodes[begin].iteration) {
          ++end;
        }
        label_step(worker, std::span(nodes).subspan(begin, end - begin));
        begin = end;
      }
    }
    if (unmatched_ > 0) {
      job_.notes.push_back(std::to_string(unmatched_) +
                           " messages are of no known micro-batch: their ranks have another number "
                           "of computations");
    }
  }

 private:
  /// A computation whose input comes from, or whose output goes to, another stage.
  struct Crossing {
    int32_t micro_batch;
    int32_t chunk;
    uint32_t peer;
  };

  /// Which stage has which chunk of the whole model.
  void find_chunks() {
    for (const Event& event : job_.trace.events) {
      const Operation& operation = job_.operation(event.operation);
      if (operation.role != Role::Compute || is_message(operation)) {
        continue;
      }
      const int32_t stage = job_.trace.workers[event.worker].stage;
      const int32_t chunk = std::max(event.chunk, 0);
      const int64_t global =
          event.global_chunk >= 0 ? event.global_chunk : int64_t{chunk} * stages_ + stage;
      const auto [known, fresh] = stage_of_.insert({global, stage});
      const auto [same, first] = global_of_.insert({{stage, chunk}, global});
      if (known->second != stage || same->second != global) {
        throw sdk::Error(PRISM_STATUS_INVALID_ARGUMENT,
                         job_.trace.where(event.place) + ": chunk " + std::to_string(chunk) +
                             " of stage " + std::to_string(stage) + " is chunk " +
                             std::to_string(global) +
                             " of the model, which earlier rows say otherwise");
      }
    }
  }

  /// The worker that has the chunk before or behind; kNone: there is none, or it is the same stage.
  uint32_t neighbour(uint32_t worker, int32_t chunk, int64_t by) const {
    const Worker& own = job_.trace.workers[worker];
    const auto stage = stage_of_.find(global_of_.at({own.stage, std::max(chunk, 0)}) + by);
    if (stage == stage_of_.end() || stage->second == own.stage) {
      return kNone;
    }
    return worker_at_.at({stage->second, own.data, own.tensor});
  }

  void label_step(uint32_t worker, std::span<Node> nodes) {
    // By direction of the computation and of the neighbour.
    std::map<std::pair<bool, Members>, std::vector<Crossing>> crossings;
    for (const Node& node : nodes) {
      const Operation& operation = job_.operation(node.operation);
      if (operation.role != Role::Compute || is_message(operation)) {
        continue;
      }
      for (const auto& [members, by] : kSides) {
        if (const uint32_t peer = neighbour(worker, node.chunk, by); peer != kNone) {
          crossings[{operation.backward, members}].push_back({node.micro_batch, node.chunk, peer});
        }
      }
    }
    std::map<uint32_t, size_t> total;  // by operation
    for (const Node& node : nodes) {
      for (const Part& part : node.parts) {
        ++total[part.operation];
      }
    }
    std::map<uint32_t, size_t> seen;
    for (Node& node : nodes) {
      for (Part& part : node.parts) {
        const Operation& operation = job_.operation(part.operation);
        const std::vector<Crossing>& of = crossings[{operation.backward, operation.members}];
        if (total[part.operation] == of.size()) {
          const Crossing& crossing = of[seen[part.operation]++];
          part.micro_batch = crossing.micro_batch;
          part.chunk = crossing.chunk;
          part.peer = crossing.peer;
        } else {
          part.peer = only_peer(worker, node, part, of);
          ++unmatched_;
        }
      }
      label_node(node);
    }
  }

  /// Of messages that are more or fewer than the computations which they could be of.
  uint32_t only_peer(uint32_t worker, const Node& node, const Part& part,
                     const std::vector<Crossing>& of) const {
    const bool one = !of.empty() && std::all_of(of.begin(), of.end(), [&](const Crossing& c) {
      return c.peer == of.front().peer;
    });
    if (!one) {
      throw sdk::Error(PRISM_STATUS_DATA_LOSS,
                       job_.trace.where(node.place) + ": " +
                           job_.rank_and_step(worker, node.iteration) + ": no computation has a " +
                           "neighbour for this " +
                           std::string(job_.operation(part.operation).name) + "; is the file cut?");
    }
    return of.front().peer;
  }

  /// A batch is of the micro-batch that it receives: the one that is computed next.
  void label_node(Node& node) const {
    for (const Part& part : node.parts) {
      const bool receives = job_.operation(part.operation).kind == PRISM_COMM_RECV;
      if (receives || &part == &node.parts.front()) {
        node.operation = part.operation;
        node.micro_batch = part.micro_batch;
        node.chunk = part.chunk;
      }
    }
  }

  Job& job_;
  int32_t stages_ = 0;
  std::map<std::tuple<int32_t, int32_t, int32_t>, uint32_t> worker_at_;
  uint64_t unmatched_ = 0;
  std::map<int64_t, int32_t> stage_of_;                       // by chunk of the model
  std::map<std::pair<int32_t, int32_t>, int64_t> global_of_;  // by stage and its chunk
};

}  // namespace

void label_messages(Job& job) {
  Labels(job).label_all();
}

}  // namespace prism::microbatch
