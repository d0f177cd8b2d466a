// SPDX-License-Identifier: Apache-2.0
/// prism.format/1 for a class with plain methods; what they throw becomes the status (error.hpp).
///
///   class MyFormat {                        // one object per session
///    public:
///     static constexpr auto kOptions = prism::sdk::options(...);        // optional
///     explicit MyFormat(const prism::sdk::OptionValues& values);
///     bool recognises(const std::string& path);                         // optional
///     void import_trace(std::span<const prism::sdk::TraceInput> inputs,
///                       prism::sdk::TraceSink& sink);                   // this one,
///     void export_trace(const prism::sdk::TraceReader& reader,
///                       const std::string& path);                       // or this, or both
///     static constexpr bool kExportsFolder = true;  // optional: `path` of export_trace is a
///     folder
///   };
///   PRISM_PLUGIN(PRISM_PLUGIN_ID, PRISM_PLUGIN_VERSION, prism::sdk::Format<MyFormat>)
///
/// The contract of each method is that of its function in prism/abi/draft/format.h.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "prism/abi/draft/format.h"
#include "prism/host/sinks.hpp"
#include "prism/sdk/error.hpp"
#include "prism/sdk/options.hpp"
#include "prism/sdk/text.hpp"

namespace prism::sdk {

struct TraceInput {
  std::string path;
  std::optional<uint32_t> rank;  ///< as the user said it; none: see the file
};

/// prism_trace_communicator_t.
struct TraceCommunicator {
  std::string name;
  std::string description;
  std::string backend;
  std::vector<uint32_t> ranks;  ///< in group order
};

/// prism_trace_node_t; the defaults are a compute node without labels.
struct TraceNode {
  int32_t kind = PRISM_NODE_COMPUTE;
  uint32_t lane = 0;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  uint32_t communicator = PRISM_NO_INDEX;
  int64_t sequence = -1;
  int32_t root = -1;
  int32_t dtype = PRISM_DTYPE_OTHER;
  int32_t reduction = PRISM_REDUCE_NONE;
  uint64_t input_bytes = 0;
  uint64_t output_bytes = 0;
  std::span<const prism_trace_part_t> parts;
  std::span<const uint32_t> dependencies;
  std::string_view name;
  std::string_view phase;
  int32_t iteration = -1;
  int32_t micro_batch = -1;
  int32_t chunk = -1;
  int32_t layer = -1;
};

/// What an importer tells the host. Throws what the host refuses.
class TraceSink {
 public:
  explicit TraceSink(const prism_trace_sink_t& sink) : sink_(sink) {}

  void begin_rank(uint32_t rank, uint32_t clock, std::string_view source) {
    call([&](auto* err) { return sink_.begin_rank(sink_.ctx, rank, clock, to_c(source), err); });
  }
  /// Index among the lanes of the rank. `kind`: PRISM_LANE_.
  uint32_t add_lane(int32_t kind, std::string_view name) {
    return indexed([&](uint32_t* index, auto* err) {
      return sink_.add_lane(sink_.ctx, kind, to_c(name), index, err);
    });
  }
  uint32_t add_communicator(const TraceCommunicator& communicator) {
    prism_trace_communicator_t c{};
    c.struct_size = sizeof c;
    c.name = to_c(communicator.name);
    c.description = to_c(communicator.description);
    c.backend = to_c(communicator.backend);
    c.ranks = communicator.ranks.data();
    c.rank_count = communicator.ranks.size();
    return indexed([&](uint32_t* index, auto* err) {
      return sink_.add_communicator(sink_.ctx, &c, index, err);
    });
  }
  uint32_t add_node(const TraceNode& node) {
    prism_trace_node_t c{};
    c.struct_size = sizeof c;
    c.kind = node.kind;
    c.lane = node.lane;
    c.communicator = node.communicator;
    c.start_ns = node.start_ns;
    c.end_ns = node.end_ns;
    c.sequence = node.sequence;
    c.root = node.root;
    c.dtype = node.dtype;
    c.reduction = node.reduction;
    c.iteration = node.iteration;
    c.input_bytes = node.input_bytes;
    c.output_bytes = node.output_bytes;
    c.parts = node.parts.data();
    c.part_count = node.parts.size();
    c.dependencies = node.dependencies.data();
    c.dependency_count = node.dependencies.size();
    c.name = to_c(node.name);
    c.phase = to_c(node.phase);
    c.micro_batch = node.micro_batch;
    c.chunk = node.chunk;
    c.layer = node.layer;
    return indexed(
        [&](uint32_t* index, auto* err) { return sink_.add_node(sink_.ctx, &c, index, err); });
  }
  void note(std::string_view text) { sink_.note(sink_.ctx, to_c(text)); }

 private:
  template <typename Call>
  void call(Call&& function) {
    const host::ErrorSink error;
    const prism_status_t status = function(error.c());
    if (status != PRISM_STATUS_OK) {
      throw Error(status, error.message(status));
    }
  }
  template <typename Call>
  uint32_t indexed(Call&& function) {
    uint32_t index = 0;
    call([&](auto* err) { return function(&index, err); });
    return index;
  }

  const prism_trace_sink_t& sink_;
};

struct TraceLane {
  int32_t kind = PRISM_LANE_CPU;
  std::string_view name;
};

/// A node as replayed: `arrival_ns` <= node.start_ns, the difference is waiting for other ranks.
struct ReplayedNode {
  TraceNode node;
  int64_t arrival_ns = 0;
};

/// What an exporter reads. Views are valid until the next call of the same method.
class TraceReader {
 public:
  explicit TraceReader(const prism_trace_reader_t& reader) : reader_(reader) {}

  uint32_t world_size() const { return reader_.world_size; }
  /// The exported ranks, ascending.
  std::vector<uint32_t> ranks() const {
    std::vector<uint32_t> ranks;
    for (uint64_t i = 0; i < reader_.rank_count; ++i) {
      ranks.push_back(reader_.rank(reader_.ctx, i));
    }
    return ranks;
  }
  uint64_t lane_count(uint32_t rank) const { return reader_.lane_count(reader_.ctx, rank); }
  TraceLane lane(uint32_t rank, uint64_t index) const {
    TraceLane lane;
    prism_str_t name{};
    reader_.lane(reader_.ctx, rank, index, &lane.kind, &name);
    lane.name = view(name);
    return lane;
  }
  uint64_t communicator_count(uint32_t rank) const {
    return reader_.communicator_count(reader_.ctx, rank);
  }
  TraceCommunicator communicator(uint32_t rank, uint64_t index) const {
    prism_trace_communicator_t c{};
    c.struct_size = sizeof c;
    reader_.communicator(reader_.ctx, rank, index, &c);
    return {copy(c.name), copy(c.description), copy(c.backend), {c.ranks, c.ranks + c.rank_count}};
  }
  uint64_t node_count(uint32_t rank) const { return reader_.node_count(reader_.ctx, rank); }
  ReplayedNode node(uint32_t rank, uint64_t index) const {
    prism_trace_node_t c{};
    c.struct_size = sizeof c;
    ReplayedNode result;
    reader_.node(reader_.ctx, rank, index, &c, &result.arrival_ns);
    TraceNode& node = result.node;
    node.kind = c.kind;
    node.lane = c.lane;
    node.start_ns = c.start_ns;
    node.end_ns = c.end_ns;
    node.communicator = c.communicator;
    node.sequence = c.sequence;
    node.root = c.root;
    node.dtype = c.dtype;
    node.reduction = c.reduction;
    node.input_bytes = c.input_bytes;
    node.output_bytes = c.output_bytes;
    node.parts = {c.parts, static_cast<size_t>(c.part_count)};
    node.dependencies = {c.dependencies, static_cast<size_t>(c.dependency_count)};
    node.name = view(c.name);
    node.phase = view(c.phase);
    node.iteration = c.iteration;
    node.micro_batch = c.micro_batch;
    node.chunk = c.chunk;
    node.layer = c.layer;
    return result;
  }

 private:
  const prism_trace_reader_t& reader_;
};

template <typename T>
class Format {
  static_assert(std::constructible_from<T, const OptionValues&>,
                "a format needs the constructor T(const prism::sdk::OptionValues&)");
  static constexpr bool kImports = requires { &T::import_trace; };
  static constexpr bool kExports = requires { &T::export_trace; };
  static_assert(kImports || kExports,
                "a format needs the method void import_trace(std::span<const "
                "prism::sdk::TraceInput>, prism::sdk::TraceSink&) or void export_trace(const "
                "prism::sdk::TraceReader&, const std::string&)");

 public:
  static constexpr std::string_view kId = PRISM_FORMAT_1;
  static const void* table() noexcept { return &kTable; }

 private:
  using Session = prism_format_session_t;

  static T& self(Session* session) { return *reinterpret_cast<T*>(session); }

  static prism_status_t open(const prism_option_value_t* values, uint64_t value_count,
                             Session** session, const prism_error_sink_t* err) noexcept {
    return guarded(err, [&] {
      auto format = std::make_unique<T>(OptionValues(detail::options_of<T>(), values, value_count));
      *session = reinterpret_cast<Session*>(format.release());
    });
  }

  static uint8_t recognises(Session* session, prism_str_t path) noexcept {
    bool known = false;
    guarded(nullptr, [&] { known = self(session).recognises(copy(path)); });
    return known ? 1 : 0;
  }

  static prism_status_t import_trace(Session* session, const prism_trace_input_t* inputs,
                                     uint64_t input_count, const prism_trace_sink_t* sink,
                                     const prism_error_sink_t* err) noexcept {
    return guarded(err, [&] {
      std::vector<TraceInput> copied;
      for (uint64_t i = 0; i < input_count; ++i) {
        copied.push_back({copy(inputs[i].path), std::nullopt});
        if (inputs[i].rank != PRISM_UNKNOWN_RANK) {
          copied.back().rank = inputs[i].rank;
        }
      }
      TraceSink to(*sink);
      self(session).import_trace(copied, to);
    });
  }

  static prism_status_t export_trace(Session* session, const prism_trace_reader_t* reader,
                                     prism_str_t path, const prism_error_sink_t* err) noexcept {
    return guarded(err, [&] { self(session).export_trace(TraceReader(*reader), copy(path)); });
  }

  static void close(Session* session) noexcept { delete reinterpret_cast<T*>(session); }

  static constexpr prism_format_t describe() {
    prism_format_t table{};
    table.struct_size = sizeof(prism_format_t);
    table.options = detail::options_of<T>();
    table.open = &open;
    if constexpr (requires { &T::recognises; }) {
      table.recognises = &recognises;
    }
    if constexpr (kImports) {
      table.import_trace = &import_trace;
    }
    if constexpr (kExports) {
      table.export_trace = &export_trace;
    }
    table.close = &close;
    if constexpr (requires { T::kExportsFolder; }) {
      table.exports_folder = T::kExportsFolder ? 1 : 0;
    }
    return table;
  }

  static constexpr prism_format_t kTable = describe();
};

}  // namespace prism::sdk
