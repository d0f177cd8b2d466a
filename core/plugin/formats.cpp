// SPDX-License-Identifier: Apache-2.0
#include "core/plugin/formats.hpp"

#include <new>
#include <utility>

#include "core/base/file.hpp"
#include "core/base/folder.hpp"
#include "core/plugin/bound.hpp"
#include "prism/abi/draft/format.h"
#include "prism/host/call_notes.hpp"
#include "prism/host/text.hpp"
#include "prism/sdk/text.hpp"

namespace prism::plugin {
namespace {

using graph::Kind;
using sdk::to_c;
using sdk::view;

constexpr uint64_t kMostMembers = 1U << 20U;
constexpr uint64_t kMostParts = 1U << 20U;

/// What an importer calls. It may say anything: nothing is believed, nothing thrown.
class Sink {
 public:
  const prism_trace_sink_t& c() const { return sink_; }
  /// What was told. Errors: the first thing that was refused, whatever the importer made of it.
  Result<calibrate::Observation> take() {
    PRISM_TRY(Status(refused_));
    return std::move(builder_).finish();
  }

 private:
  using Err = prism_error_sink_t;

  static Sink& self(void* ctx) { return *static_cast<Sink*>(ctx); }

  template <typename Body>
  static prism_status_t answer(void* ctx, const Err* err, Body&& body) noexcept {
    try {
      const Status status = body();
      if (status.ok()) {
        return PRISM_STATUS_OK;
      }
      if (self(ctx).refused_.ok()) {
        self(ctx).refused_ = status;
      }
      const auto code = static_cast<prism_status_t>(status.code());
      if (err != nullptr && err->report != nullptr) {
        err->report(err->ctx, code, to_c(status.message()));
      }
      return code;
    } catch (const std::bad_alloc&) {
      return PRISM_STATUS_RESOURCE_EXHAUSTED;
    } catch (...) {
      return PRISM_STATUS_INTERNAL;
    }
  }

  static Status refuse(const char* what) { return run_error(what, Code::InvalidArgument); }

  static prism_status_t begin_rank(void* ctx, uint32_t rank, uint32_t clock, prism_str_t source,
                                   const Err* err) noexcept {
    return answer(ctx, err, [&] {
      return self(ctx).builder_.begin_rank(rank, clock, host::clean_text(source));
    });
  }

  static prism_status_t add_lane(void* ctx, int32_t kind, prism_str_t name, uint32_t* index,
                                 const Err* err) noexcept {
    return answer(ctx, err, [&]() -> Status {
      if (index == nullptr || kind < PRISM_LANE_CPU || kind > PRISM_LANE_COMM) {
        return refuse("a lane has an unknown kind");
      }
      PRISM_TRY_ASSIGN(*index, self(ctx).builder_.add_lane(static_cast<graph::LaneKind>(kind),
                                                           host::clean_text(name)));
      return {};
    });
  }

  static prism_status_t add_communicator(void* ctx, const prism_trace_communicator_t* c,
                                         uint32_t* index, const Err* err) noexcept {
    return answer(ctx, err, [&]() -> Status {
      if (c == nullptr || index == nullptr || c->rank_count == 0 || c->rank_count > kMostMembers ||
          c->ranks == nullptr) {
        return refuse("a communicator has no ranks, or more than can be");
      }
      graph::Communicator communicator;
      communicator.name = host::clean_text(c->name);
      communicator.description = host::clean_text(c->description);
      communicator.backend = host::clean_text(c->backend);
      communicator.ranks.assign(c->ranks, c->ranks + c->rank_count);
      PRISM_TRY_ASSIGN(*index, self(ctx).builder_.add_communicator(std::move(communicator)));
      return {};
    });
  }

  /// The text itself where it is UTF-8, else what is made of it, in `kept`.
  static std::string_view clean(prism_str_t text, std::string& kept) {
    if (host::valid_text(text, host::kMaxText)) {
      return view(text);
    }
    kept = host::clean_text(text);
    return kept;
  }

  static bool known_kind(int32_t kind) {
    return (kind >= PRISM_NODE_COMPUTE && kind <= PRISM_COMM_RECV) || kind == PRISM_NODE_BATCH;
  }

  static prism_status_t add_node(void* ctx, const prism_trace_node_t* c, uint32_t* index,
                                 const Err* err) noexcept {
    return answer(ctx, err, [&]() -> Status {
      if (c == nullptr || index == nullptr || !known_kind(c->kind)) {
        return refuse("a node has an unknown kind");
      }
      if (c->part_count > kMostParts || (c->part_count > 0 && c->parts == nullptr) ||
          (c->dependency_count > 0 && c->dependencies == nullptr) ||
          c->dependency_count > graph::kNone) {
        return refuse("a node has parts or dependencies that cannot be");
      }
      calibrate::ObservedNode& node = self(ctx).node_;
      node.kind = static_cast<Kind>(c->kind);
      node.lane = c->lane;
      node.span = {c->start_ns, c->end_ns};
      node.communicator = c->communicator;
      node.sequence = c->sequence;
      node.root = c->root;
      node.dtype = static_cast<uint8_t>(c->dtype);
      node.reduction = static_cast<uint8_t>(c->reduction);
      node.input_bytes = c->input_bytes;
      node.output_bytes = c->output_bytes;
      node.parts.clear();
      node.part_spans.clear();
      for (uint64_t p = 0; p < c->part_count; ++p) {
        const prism_trace_part_t& part = c->parts[p];
        node.parts.push_back({part.kind == PRISM_COMM_SEND ? Kind::Send : Kind::Recv, part.peer,
                              part.tag, part.communicator, part.bytes,
                              static_cast<uint8_t>(part.dtype), 0});
        node.part_spans.push_back({part.start_ns, part.end_ns});
      }
      node.dependencies.assign(c->dependencies, c->dependencies + c->dependency_count);
      node.iteration = c->iteration;
      node.name = clean(c->name, self(ctx).name_);
      node.phase = clean(c->phase, self(ctx).phase_);
      node.micro_batch = c->micro_batch;
      node.chunk = c->chunk;
      node.layer = c->layer;
      PRISM_TRY_ASSIGN(*index, self(ctx).builder_.add_node(node));
      return {};
    });
  }

  static void note(void* ctx, prism_str_t text) noexcept {
    static_cast<void>(answer(ctx, nullptr, [&]() -> Status {
      self(ctx).builder_.note(host::clean_text(text));
      return {};
    }));
  }

  calibrate::ObservationBuilder builder_;
  Status refused_;
  std::string name_;
  std::string phase_;
  calibrate::ObservedNode node_;  // kept for its memory
  prism_trace_sink_t sink_{sizeof(prism_trace_sink_t), 0,         this, &begin_rank, &add_lane,
                           &add_communicator,          &add_node, &note};
};

/// What an exporter reads.
class Reader {
 public:
  Reader(const graph::Job& job, const std::vector<replay::RecordedTimes>& times,
         uint32_t first_iteration)
      : job_(job), times_(times), first_iteration_(first_iteration), place_of_(job.world_size, 0) {
    reader_.world_size = job.world_size;
    reader_.rank_count = times.size();
    for (size_t i = 0; i < times.size(); ++i) {
      place_of_[times[i].rank] = i;
    }
  }
  const prism_trace_reader_t& c() const { return reader_; }

 private:
  static const Reader& self(void* ctx) { return *static_cast<const Reader*>(ctx); }
  const graph::Program& program(Rank rank) const { return job_.program(rank); }
  const replay::RecordedTimes& times(Rank rank) const { return times_[place_of_[rank]]; }

  static uint32_t rank(void* ctx, uint64_t index) noexcept { return self(ctx).times_[index].rank; }
  static uint64_t lane_count(void* ctx, uint32_t rank) noexcept {
    return self(ctx).program(rank).lanes.size();
  }
  static void lane(void* ctx, uint32_t rank, uint64_t index, int32_t* kind,
                   prism_str_t* name) noexcept {
    const graph::Lane& lane = self(ctx).program(rank).lanes[index];
    *kind = static_cast<int32_t>(lane.kind);
    *name = to_c(lane.name);
  }
  static uint64_t communicator_count(void* ctx, uint32_t rank) noexcept {
    return self(ctx).program(rank).communicators.size();
  }
  static void communicator(void* ctx, uint32_t rank, uint64_t index,
                           prism_trace_communicator_t* out) noexcept {
    const Reader& reader = self(ctx);
    const graph::Communicator& recorded = reader.program(rank).communicators[index];
    const uint32_t number = reader.job_.communicator(rank, static_cast<uint32_t>(index));
    // One that no node uses is not part of the job.
    const std::vector<Rank>& ranks =
        number == graph::kNone ? recorded.ranks : reader.job_.communicators[number].ranks;
    out->name = to_c(recorded.name);
    out->description = to_c(recorded.description);
    out->backend = to_c(recorded.backend);
    out->ranks = ranks.data();
    out->rank_count = ranks.size();
  }
  static uint64_t node_count(void* ctx, uint32_t rank) noexcept {
    return self(ctx).program(rank).nodes.size();
  }
  static void node(void* ctx, uint32_t rank, uint64_t index, prism_trace_node_t* out,
                   int64_t* arrival_ns) noexcept {
    const Reader& reader = self(ctx);
    const graph::Program& program = reader.program(rank);
    const graph::Node& node = program.nodes[index];
    const replay::NodeTimes& times = reader.times(rank).nodes[index];
    out->kind = static_cast<int32_t>(node.kind);
    out->lane = node.lane;
    out->communicator = node.communicator;
    out->start_ns = times.start;
    out->end_ns = times.end;
    out->sequence = graph::is_collective(node.kind) ? static_cast<int64_t>(node.sequence) : -1;
    out->root = node.root;
    out->dtype = node.dtype;
    out->reduction = node.reduction;
    out->iteration = static_cast<int32_t>(reader.first_iteration_ + node.iteration);
    out->input_bytes = node.input_bytes;
    out->output_bytes = node.output_bytes;
    *arrival_ns = times.arrival;
    out->dependencies = program.dependencies.data() + node.first_dependency;
    out->dependency_count = node.dependency_count;
    const graph::Labels labels =
        index < program.labels.size() ? program.labels[index] : graph::Labels{};
    const auto text = [&](uint32_t t) {
      return t == graph::kNone ? prism_str_t{} : to_c(program.texts[t]);
    };
    out->name = text(labels.name);
    out->phase = text(labels.phase);
    out->micro_batch = labels.micro_batch;
    out->chunk = labels.chunk;
    out->layer = labels.layer;
    reader.parts_.clear();
    for (uint32_t p = node.first_part; p < node.first_part + node.part_count; ++p) {
      const graph::Part& part = program.parts[p];
      prism_trace_part_t c{};
      c.kind = static_cast<int32_t>(part.kind);
      c.peer = part.peer;
      c.tag = part.tag;
      c.communicator = part.communicator;
      c.dtype = part.dtype;
      c.bytes = part.bytes;
      c.start_ns = times.start;
      c.end_ns = times.end;
      reader.parts_.push_back(c);
    }
    out->parts = reader.parts_.data();
    out->part_count = reader.parts_.size();
  }

  const graph::Job& job_;
  const std::vector<replay::RecordedTimes>& times_;
  const uint32_t first_iteration_;
  std::vector<size_t> place_of_;                   // by rank: in times_
  mutable std::vector<prism_trace_part_t> parts_;  // of the node handed out last
  prism_trace_reader_t reader_{sizeof(prism_trace_reader_t),
                               0,
                               this,
                               0,
                               &rank,
                               &lane_count,
                               &lane,
                               &communicator_count,
                               &communicator,
                               &node_count,
                               &node};
};

class PluginFormat final : public Format {
 public:
  PluginFormat(Bound<prism_format_t> bound, prism_format_session_t* session)
      : plugin_(*bound.plugin), table_(*bound.table), session_(session) {}
  ~PluginFormat() override {
    const auto entered = threads_.enter(host::ThreadTag::Control, "close");
    const host::NotedCall noted(plugin_.name(), "close");
    table_.close(session_);
  }
  PluginFormat(const PluginFormat&) = delete;
  PluginFormat& operator=(const PluginFormat&) = delete;

  bool imports() const override { return table_.import_trace != nullptr; }
  bool exports() const override { return table_.export_trace != nullptr; }

  bool recognises(const std::string& path) override {
    if (table_.recognises == nullptr) {
      return false;
    }
    const auto entered = threads_.enter(host::ThreadTag::Control, "recognises");
    const host::NotedCall noted(plugin_.name(), "recognises");
    return table_.recognises(session_, to_c(path)) != 0;
  }

  Result<calibrate::Observation> import_trace(const std::vector<TraceFile>& files) override {
    if (!imports()) {
      return config_error(plugin_.name() + " cannot import");
    }
    std::vector<prism_trace_input_t> inputs;
    inputs.reserve(files.size());
    for (const TraceFile& file : files) {
      inputs.push_back(
          {sizeof(prism_trace_input_t), file.rank.value_or(PRISM_UNKNOWN_RANK), to_c(file.path)});
    }
    Sink sink;
    const host::ErrorSink error;
    const auto entered = threads_.enter(host::ThreadTag::Control, "import_trace");
    const host::NotedCall noted(plugin_.name(), "import_trace");
    const prism_status_t status =
        table_.import_trace(session_, inputs.data(), inputs.size(), &sink.c(), error.c());
    PRISM_TRY(outcome(plugin_, "import_trace", status, error, Domain::Run));
    return sink.take().context("what " + plugin_.name() + " says of the trace");
  }

  Status export_trace(const graph::Job& job, const std::vector<replay::RecordedTimes>& times,
                      uint32_t first_iteration, const std::string& path) override {
    if (!exports()) {
      return config_error(plugin_.name() + " cannot export");
    }
    const Reader reader(job, times, first_iteration);
    const auto write = [&](const std::string& unfinished) {
      const host::ErrorSink error;
      const auto entered = threads_.enter(host::ThreadTag::Control, "export_trace");
      const host::NotedCall noted(plugin_.name(), "export_trace");
      const prism_status_t status =
          table_.export_trace(session_, &reader.c(), to_c(unfinished), error.c());
      return outcome(plugin_, "export_trace", status, error, Domain::Run);
    };
    return table_.exports_folder != 0 ? replace_folder(path, write) : replace_file(path, write);
  }

 private:
  const LoadedPlugin& plugin_;
  const prism_format_t& table_;
  prism_format_session_t* session_;
  host::ThreadRules threads_{plugin_.name()};
};

}  // namespace

Result<std::unique_ptr<Format>> open_format(Registry& registry, std::string_view id,
                                            OptionValues values) {
  PRISM_TRY_ASSIGN(const auto bound, bind<prism_format_t>(registry, id, PRISM_FORMAT_1));
  PRISM_TRY_ASSIGN(auto* session,
                   (open_session<prism_format_t, prism_format_session_t>(bound, values)));
  return std::unique_ptr<Format>(std::make_unique<PluginFormat>(bound, session));
}

}  // namespace prism::plugin
