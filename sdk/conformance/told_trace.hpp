// SPDX-License-Identifier: Apache-2.0
/// A trace sink that refuses what the host refuses (core/calibrate/observation.cpp), and keeps what
/// it was told as text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "prism/abi/draft/format.h"

namespace prism::conformance {

class ToldTrace {
 public:
  ToldTrace() = default;
  /// Refuses the call number `call`, from 0, with `code`.
  ToldTrace(uint64_t call, prism_status_t code) : refused_call_(call), refusal_code_(code) {}
  ToldTrace(const ToldTrace&) = delete;
  ToldTrace& operator=(const ToldTrace&) = delete;

  const prism_trace_sink_t* c() const { return &sink_; }

  /// Everything, a line per call; two imports are equal when these are.
  const std::string& text() const { return text_; }
  /// Calls that may be refused, those after a refusal not counted.
  uint64_t calls() const { return calls_; }
  /// Calls after one was refused.
  uint64_t calls_after_refusal() const { return late_calls_; }
  /// What the host would not take, beside the call that this was to refuse; empty: nothing.
  const std::string& problem() const { return problem_; }
  /// The same at the end of an import that succeeded.
  std::string problem_at_end() const;
  /// Whether a node had this name.
  bool has_name(std::string_view name) const;

  /// The words of the refusal that was asked for.
  static constexpr std::string_view kRefusal = "the conformance test takes no more";

 private:
  using Err = prism_error_sink_t;

  struct Lane {
    int64_t end_ns;
  };
  struct Communicator {
    uint64_t members;
    uint64_t next_sequence = 0;
  };

  static ToldTrace& self(void* ctx) { return *static_cast<ToldTrace*>(ctx); }

  /// Whether the call is to be looked at; else `status` is what it returns.
  bool take(const Err* err, prism_status_t& status);
  prism_status_t answer(const std::string& problem, const Err* err);
  std::string problem_of(const prism_trace_node_t& node) const;
  std::string problem_of_part(const prism_trace_part_t& part) const;
  void keep(const prism_trace_node_t& node);

  static prism_status_t begin_rank(void* ctx, uint32_t rank, uint32_t clock, prism_str_t source,
                                   const Err* err) noexcept;
  static prism_status_t add_lane(void* ctx, int32_t kind, prism_str_t name, uint32_t* index,
                                 const Err* err) noexcept;
  static prism_status_t add_communicator(void* ctx, const prism_trace_communicator_t* communicator,
                                         uint32_t* index, const Err* err) noexcept;
  static prism_status_t add_node(void* ctx, const prism_trace_node_t* node, uint32_t* index,
                                 const Err* err) noexcept;
  static void note(void* ctx, prism_str_t text) noexcept;

  uint64_t refused_call_ = ~uint64_t{0};
  prism_status_t refusal_code_ = 0;
  bool refused_ = false;
  uint64_t calls_ = 0;
  uint64_t late_calls_ = 0;
  std::string text_;
  std::string problem_;
  std::vector<std::string> names_;
  uint64_t all_nodes_ = 0;
  std::vector<uint32_t> ranks_;
  // Of the rank that was begun last.
  std::vector<Lane> lanes_;
  std::vector<Communicator> communicators_;
  std::string source_;
  uint64_t nodes_ = 0;

  prism_trace_sink_t sink_{sizeof(prism_trace_sink_t), 0,         this, &begin_rank, &add_lane,
                           &add_communicator,          &add_node, &note};
};

}  // namespace prism::conformance
