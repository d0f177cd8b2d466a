// SPDX-License-Identifier: Apache-2.0
#include "tests/synthetic/program.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "core/graph/builder.hpp"
#include "tests/synthetic/schedule.hpp"

namespace prism::synthetic {
namespace {

using graph::Kind;
using graph::kNone;
using graph::LaneKind;
using graph::Part;

constexpr uint64_t kBytesOfBf16 = 2;

/// A communicator of the rank, with the lane of its own that its work is on.
struct Group {
  uint32_t communicator = kNone;
  uint32_t lane = kNone;
  uint32_t size = 1;  ///< 1: not made, nothing is communicated
};

class StageWriter {
 public:
  StageWriter(const Spec& spec, uint32_t stage)
      : spec_(spec),
        stage_(stage),
        builder_(spec.rank(0, 0, stage), spec.world_size()),
        cpu_(builder_.add_lane(LaneKind::Cpu, "cpu:0")),
        stream_(builder_.add_lane(LaneKind::Stream, "stream:7")) {
    make_groups();
  }

  graph::Program write() && {
    const std::vector<Action> actions =
        schedule_of(stage_, spec_.pp, spec_.micro_batches, spec_.chunks);
    for (uint32_t i = 0; i < spec_.iterations; ++i) {
      if (i > 0) {
        builder_.next_iteration();
      }
      for (const Action& action : actions) {
        run(action);
      }
      finish_iteration();
    }
    graph::Program program = std::move(builder_).finish();
    for (uint32_t id = 0; id < program.nodes.size(); ++id) {
      program.nodes[id].gap = gaps_[id];
    }
    program.labels = std::move(labels_);
    program.texts = std::move(texts_);
    return program;
  }

 private:
  // ---- Groups ----

  /// All groups of the kind are created on every rank, as torch wants it.
  Group make_group(const std::string& description, const std::vector<std::vector<Rank>>& groups) {
    Group result;
    const Rank own = spec_.rank(0, 0, stage_);
    if (groups.front().size() == 1) {
      return result;
    }
    for (const std::vector<Rank>& ranks : groups) {
      graph::Communicator communicator;
      communicator.name = std::to_string(created_++);
      communicator.description = description;
      communicator.backend = "nccl";
      communicator.ranks = ranks;
      if (std::find(ranks.begin(), ranks.end(), own) == ranks.end()) {
        builder_.add_other(std::move(communicator));
      } else {
        result.size = static_cast<uint32_t>(ranks.size());
        result.communicator = builder_.add_communicator(std::move(communicator));
      }
    }
    if (result.communicator != kNone) {
      result.lane = builder_.add_lane(LaneKind::Comm, "comm:" + description);
    }
    return result;
  }

  /// Groups of this stage: those that differ in data and tensor position, made by `member`, which
  /// gives the k-th rank of group (a, b).
  template <typename Member>
  std::vector<std::vector<Rank>> groups(uint32_t a_count, uint32_t b_count, uint32_t size,
                                        Member member) const {
    std::vector<std::vector<Rank>> result;
    result.reserve(size_t{a_count} * b_count);
    for (uint32_t a = 0; a < a_count; ++a) {
      for (uint32_t b = 0; b < b_count; ++b) {
        std::vector<Rank>& ranks = result.emplace_back(size);
        for (uint32_t k = 0; k < size; ++k) {
          ranks[k] = member(a, b, k);
        }
      }
    }
    return result;
  }

  /// Of groups that lie within a stage, only this stage's are made: the ranks of a class are in no
  /// others.
  void make_groups() {
    const auto at = [this](uint32_t tensor, uint32_t data) {
      return spec_.rank(tensor, data, stage_);
    };
    const uint32_t ep = spec_.ep;
    const uint32_t edp = spec_.dp / ep;
    world_ = make_group(
        "INTRA_DISTRIBUTED_OPTIMIZER_INSTANCE_GROUP",
        groups(1, 1, spec_.world_size(), [](uint32_t, uint32_t, uint32_t k) { return k; }));
    data_ = make_group(
        "DATA_PARALLEL_GROUP_WITH_CP",
        groups(1, spec_.tp, spec_.dp, [&](uint32_t, uint32_t t, uint32_t k) { return at(t, k); }));
    tensor_ = make_group(
        "TENSOR_MODEL_PARALLEL_GROUP",
        groups(spec_.dp, 1, spec_.tp, [&](uint32_t d, uint32_t, uint32_t k) { return at(k, d); }));
    pipeline_ =
        make_group("PIPELINE_MODEL_PARALLEL_GROUP",
                   groups(spec_.dp, spec_.tp, spec_.pp,
                          [&](uint32_t d, uint32_t t, uint32_t k) { return spec_.rank(t, d, k); }));
    embedding_ = make_group("EMBEDDING_GROUP", groups(spec_.dp, spec_.tp, std::min(spec_.pp, 2U),
                                                      [&](uint32_t d, uint32_t t, uint32_t k) {
                                                        return spec_.rank(t, d, k * (spec_.pp - 1));
                                                      }));
    if (ep > 1) {
      expert_ = make_group("EXPERT_MODEL_PARALLEL_GROUP",
                           groups(edp, spec_.tp, ep, [&](uint32_t e, uint32_t t, uint32_t k) {
                             return at(t, e * ep + k);
                           }));
      expert_data_ = make_group("EXPERT_DATA_PARALLEL_GROUP",
                                groups(ep, spec_.tp, edp, [&](uint32_t e, uint32_t t, uint32_t k) {
                                  return at(t, k * ep + e);
                                }));
    }
  }

  // ---- Nodes ----

  uint32_t text(const std::string& words) {
    const auto next = static_cast<uint32_t>(texts_.size());
    const auto [place, added] = text_of_.try_emplace(words, next);
    if (added) {
      texts_.push_back(words);
    }
    return place->second;
  }

  /// To be called for each node that the builder was given.
  uint32_t labelled(uint32_t id, const char* name, DurationNs gap = 0) {
    labels_.push_back(place_);
    labels_.back().name = text(name);
    gaps_.push_back(gap);
    return id;
  }

  uint32_t launch() {
    return labelled(builder_.add_compute(cpu_, spec_.durations.launch), "cudaLaunchKernel",
                    spec_.durations.python);
  }

  /// What a kernel launched now has to wait for.
  std::vector<uint32_t> dependencies() {
    std::vector<uint32_t> result = stream_waits_for_;
    result.push_back(launch());
    return result;
  }

  void compute(const char* name, DurationNs duration) {
    last_kernel_ = labelled(builder_.add_compute(stream_, duration, dependencies()), name);
    stream_waits_for_.clear();
  }

  std::vector<uint32_t> dependencies_of_communication() {
    std::vector<uint32_t> result = dependencies();
    if (last_kernel_ != kNone) {
      result.push_back(last_kernel_);
    }
    return result;
  }

  struct Bytes {
    uint64_t input;
    uint64_t output;
  };
  /// kNone: the group has one rank. `overlaps`: the kernels after it do not wait for it.
  uint32_t communicate(const Group& group, Kind kind, const char* name, Bytes bytes,
                       DurationNs duration, bool overlaps = false) {
    if (group.size == 1) {
      return kNone;
    }
    graph::Collective c{kind, group.communicator, PRISM_DTYPE_BF16};
    c.reduction = kind == Kind::AllReduce || kind == Kind::ReduceScatter ? PRISM_REDUCE_SUM : 0;
    c.input_bytes = bytes.input;
    c.output_bytes = bytes.output;
    c.duration = duration;
    const uint32_t id =
        labelled(builder_.add_collective(group.lane, c, dependencies_of_communication()), name);
    if (!overlaps) {
      stream_waits_for_.assign(1, id);
    }
    return id;
  }

  void synchronize() {
    std::vector<uint32_t> waits_for = stream_waits_for_;
    if (last_kernel_ != kNone) {
      waits_for.push_back(last_kernel_);
    }
    labelled(builder_.add_compute(cpu_, 0, waits_for), "cudaDeviceSynchronize");
  }

  // ---- The pipeline ----

  void run(const Action& action) {
    if (action.kind == Action::Kind::Exchange) {
      place_ = {};
      place_.phase = text("exchange");
      exchange(action);
      return;
    }
    const bool forward = action.kind == Action::Kind::Forward;
    place_ = {};
    place_.phase = text(forward ? "forward" : "backward");
    place_.micro_batch = static_cast<int32_t>(action.micro_batch);
    place_.chunk = static_cast<int32_t>(action.chunk);
    const bool reduces = !forward && action.micro_batch + 1 == spec_.micro_batches;
    const uint32_t layers = spec_.layers_per_stage / spec_.chunks;
    const uint32_t first = (action.chunk * spec_.pp + stage_) * layers;
    for (uint32_t i = 0; i < layers; ++i) {
      place_.layer = static_cast<int32_t>(forward ? first + i : first + layers - 1 - i);
      if (forward) {
        attention(spec_.durations.attention_forward);
        mlp(spec_.durations.mlp_forward);
      } else {
        mlp(spec_.durations.mlp_backward);
        attention(spec_.durations.attention_backward);
      }
      if (reduces && spec_.overlap_gradients) {
        reduce_gradients(true);
      }
    }
  }

  uint64_t activation_bytes() const {
    return spec_.sizes.sequence * spec_.sizes.micro_batch * spec_.sizes.hidden * kBytesOfBf16;
  }
  DurationNs of_this_stage(DurationNs duration) const {
    return spec_.stage_factors.empty()
               ? duration
               : std::llround(static_cast<double>(duration) * spec_.stage_factors[stage_]);
  }

  void reduce_activations() {
    communicate(tensor_, Kind::AllReduce, "all_reduce", {activation_bytes(), activation_bytes()},
                spec_.durations.tensor_reduce);
  }
  void exchange_tokens() {
    communicate(expert_, Kind::AllToAll, "all_to_all", {activation_bytes(), activation_bytes()},
                spec_.durations.expert_exchange);
  }
  void attention(DurationNs duration) {
    compute("attention", of_this_stage(duration));
    reduce_activations();
  }
  void mlp(DurationNs duration) {
    exchange_tokens();
    compute(spec_.ep > 1 ? "experts" : "mlp", of_this_stage(duration));
    exchange_tokens();
    reduce_activations();
  }

  void exchange(const Action& action) {
    const auto stages = spec_.pp;
    const auto previous = static_cast<int32_t>((stage_ + stages - 1) % stages);
    const auto next = static_cast<int32_t>((stage_ + 1) % stages);
    std::vector<Part> parts;
    const auto add = [&](bool wanted, Kind kind, int32_t peer) {
      if (wanted) {
        Part& part = parts.emplace_back();
        part.kind = kind;
        part.peer = peer;
        part.communicator = pipeline_.communicator;
        part.bytes = activation_bytes();
        part.dtype = PRISM_DTYPE_BF16;
        part.duration = spec_.durations.activations;
      }
    };
    // The order of _batched_p2p_ops.
    add(action.send_previous, Kind::Send, previous);
    add(action.receive_previous, Kind::Recv, previous);
    add(action.send_next, Kind::Send, next);
    add(action.receive_next, Kind::Recv, next);
    const std::vector<uint32_t> waits_for = dependencies_of_communication();
    const uint32_t id = parts.size() == 1
                            ? builder_.add_message(pipeline_.lane, parts.front(), waits_for)
                            : builder_.add_batch(pipeline_.lane, parts, waits_for);
    labelled(id, "batch_isend_irecv");
    stream_waits_for_.assign(1, id);
    synchronize();
  }

  // ---- Gradients and optimizer ----

  /// Bytes of a layer's parameters in the shards of `group`.
  static uint64_t shard(uint64_t parameters, const Group& group) {
    return (parameters + group.size - 1) / group.size * kBytesOfBf16;
  }
  uint64_t attention_parameters() const {
    return 4 * spec_.sizes.hidden * spec_.sizes.hidden / spec_.tp;
  }
  uint64_t mlp_parameters() const { return 2 * attention_parameters(); }

  /// Each bucket of a layer: its group and the size of a shard.
  template <typename Call>
  void for_each_bucket(Call call) {
    if (spec_.ep > 1) {
      call(data_, shard(attention_parameters(), data_));
      call(expert_data_, shard(mlp_parameters(), expert_data_));
    } else {
      call(data_, shard(attention_parameters() + mlp_parameters(), data_));
    }
  }

  void reduce_gradients(bool overlaps) {
    for_each_bucket([&](const Group& group, uint64_t bytes) {
      const uint32_t id =
          communicate(group, Kind::ReduceScatter, "reduce_scatter", {bytes * group.size, bytes},
                      spec_.durations.gradients, overlaps);
      if (overlaps && id != kNone) {
        last_reductions_[group.lane] = id;
      }
    });
  }
  void gather_parameters() {
    for_each_bucket([&](const Group& group, uint64_t bytes) {
      communicate(group, Kind::AllGather, "all_gather", {bytes, bytes * group.size},
                  spec_.durations.parameters);
    });
  }

  void finish_iteration() {
    place_ = {};
    place_.phase = text("gradients");
    for (uint32_t layer = 0; !spec_.overlap_gradients && layer < spec_.layers_per_stage; ++layer) {
      reduce_gradients(false);
    }
    for (const auto& [lane, id] : last_reductions_) {
      stream_waits_for_.push_back(id);
    }
    last_reductions_.clear();
    if (stage_ == 0 || stage_ + 1 == spec_.pp) {
      const uint64_t bytes = spec_.sizes.vocabulary * spec_.sizes.hidden / spec_.tp * kBytesOfBf16;
      communicate(embedding_, Kind::AllReduce, "all_reduce", {bytes, bytes},
                  spec_.durations.embedding);
    }
    communicate(world_, Kind::AllReduce, "all_reduce", {sizeof(float), sizeof(float)},
                spec_.durations.norm);
    synchronize();
    place_.phase = text("optimizer");
    compute("adam", spec_.durations.optimizer);
    for (uint32_t layer = 0; layer < spec_.layers_per_stage; ++layer) {
      gather_parameters();
    }
    synchronize();
  }

  const Spec& spec_;
  uint32_t stage_;
  graph::Builder builder_;
  uint32_t cpu_;
  uint32_t stream_;
  uint32_t created_ = 0;
  Group world_;
  Group data_;
  Group tensor_;
  Group pipeline_;
  Group embedding_;
  Group expert_;
  Group expert_data_;

  graph::Labels place_;  ///< of the nodes that are added; without a name
  std::vector<graph::Labels> labels_;
  std::vector<DurationNs> gaps_;
  std::vector<std::string> texts_;
  std::map<std::string, uint32_t> text_of_;
  uint32_t last_kernel_ = kNone;                  ///< of the stream
  std::vector<uint32_t> stream_waits_for_;        ///< communications, before its next kernel
  std::map<uint32_t, uint32_t> last_reductions_;  ///< by lane: that overlap
};

}  // namespace

graph::Program program_of(const Spec& spec, uint32_t stage) {
  return StageWriter(spec, stage).write();
}

}  // namespace prism::synthetic
