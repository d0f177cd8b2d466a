// SPDX-License-Identifier: Apache-2.0
#include "sdk/conformance/told_trace.hpp"

#include <algorithm>
#include <limits>

#include "prism/host/text.hpp"
#include "prism/sdk/text.hpp"

namespace prism::conformance {
namespace {

// The bounds of the host.
constexpr uint32_t kMostRanks = 1U << 20U;
constexpr uint64_t kMostEntries = 1U << 20U;  ///< members of a communicator, parts of a node
constexpr int32_t kMostIterations = 1 << 24;
constexpr int64_t kMostTime = 4'000'000'000'000'000'000;

bool is_message(int32_t kind) {
  return kind == PRISM_COMM_SEND || kind == PRISM_COMM_RECV;
}
bool is_collective(int32_t kind) {
  return kind >= PRISM_COMM_ALL_REDUCE && kind <= PRISM_COMM_GATHER;
}
bool is_far(int64_t start_ns, int64_t end_ns) {
  return start_ns < -kMostTime || end_ns > kMostTime;
}

std::string problem_of_span(int64_t start_ns, int64_t end_ns) {
  if (is_far(start_ns, end_ns)) {
    return "a time of it is more than 120 years away";
  }
  return end_ns < start_ns ? "it ends before it starts" : "";
}

template <typename... Words>
std::string line(const Words&... words) {
  std::string text;
  const auto append = [&](const auto& word) {
    if constexpr (requires { std::to_string(word); }) {
      text += std::to_string(word);
    } else {
      text += word;
    }
    text += ' ';
  };
  (append(words), ...);
  text.back() = '\n';
  return text;
}

}  // namespace

std::string ToldTrace::problem_at_end() const {
  if (!problem_.empty()) {
    return problem_;
  }
  if (ranks_.empty()) {
    return "it tells of no rank";
  }
  return all_nodes_ == 0 ? "it tells of no node" : "";
}

bool ToldTrace::has_name(std::string_view name) const {
  return std::find(names_.begin(), names_.end(), name) != names_.end();
}

bool ToldTrace::take(const Err* err, prism_status_t& status) {
  if (refused_) {
    ++late_calls_;
    status = PRISM_STATUS_FAILED_PRECONDITION;
    return false;
  }
  if (calls_++ == refused_call_) {
    refused_ = true;
    status = refusal_code_;
    if (err != nullptr && err->report != nullptr) {
      err->report(err->ctx, status, sdk::to_c(kRefusal));
    }
    return false;
  }
  return true;
}

prism_status_t ToldTrace::answer(const std::string& problem, const Err* err) {
  if (problem.empty()) {
    return PRISM_STATUS_OK;
  }
  refused_ = true;
  problem_ = source_.empty() ? problem : source_ + ": " + problem;  // as the host puts it
  if (err != nullptr && err->report != nullptr) {
    err->report(err->ctx, PRISM_STATUS_INVALID_ARGUMENT, sdk::to_c(problem_));
  }
  return PRISM_STATUS_INVALID_ARGUMENT;
}

prism_status_t ToldTrace::begin_rank(void* ctx, uint32_t rank, uint32_t clock, prism_str_t source,
                                     const Err* err) noexcept {
  ToldTrace& told = self(ctx);
  prism_status_t status = PRISM_STATUS_OK;
  if (!told.take(err, status)) {
    return status;
  }
  std::string problem;
  if (rank >= kMostRanks) {
    problem = "the rank " + std::to_string(rank) + " cannot be right";
  } else if (std::find(told.ranks_.begin(), told.ranks_.end(), rank) != told.ranks_.end()) {
    problem = "rank " + std::to_string(rank) + " is begun twice";
  }
  told.source_ = host::clean_text(source);
  told.ranks_.push_back(rank);
  told.lanes_.clear();
  told.communicators_.clear();
  told.nodes_ = 0;
  told.text_ += line("rank", rank, clock, told.source_);
  return told.answer(problem, err);
}

prism_status_t ToldTrace::add_lane(void* ctx, int32_t kind, prism_str_t name, uint32_t* index,
                                   const Err* err) noexcept {
  ToldTrace& told = self(ctx);
  prism_status_t status = PRISM_STATUS_OK;
  if (!told.take(err, status)) {
    return status;
  }
  if (told.ranks_.empty()) {
    return told.answer("a lane comes before the first rank", err);
  }
  if (index == nullptr || kind < PRISM_LANE_CPU || kind > PRISM_LANE_COMM) {
    return told.answer("a lane has the unknown kind " + std::to_string(kind), err);
  }
  *index = static_cast<uint32_t>(told.lanes_.size());
  told.lanes_.push_back({std::numeric_limits<int64_t>::min()});
  told.text_ += line("lane", kind, host::clean_text(name));
  return PRISM_STATUS_OK;
}

prism_status_t ToldTrace::add_communicator(void* ctx,
                                           const prism_trace_communicator_t* communicator,
                                           uint32_t* index, const Err* err) noexcept {
  ToldTrace& told = self(ctx);
  prism_status_t status = PRISM_STATUS_OK;
  if (!told.take(err, status)) {
    return status;
  }
  if (told.ranks_.empty()) {
    return told.answer("a communicator comes before the first rank", err);
  }
  if (communicator == nullptr || index == nullptr || communicator->ranks == nullptr ||
      communicator->rank_count == 0 || communicator->rank_count > kMostEntries) {
    return told.answer("a communicator has no ranks, or more than can be", err);
  }
  told.text_ +=
      line("communicator", host::clean_text(communicator->name),
           host::clean_text(communicator->description), host::clean_text(communicator->backend));
  for (uint64_t i = 0; i < communicator->rank_count; ++i) {
    const uint32_t rank = communicator->ranks[i];
    if (rank >= kMostRanks) {
      return told.answer("a communicator has the rank " + std::to_string(rank), err);
    }
    told.text_ += line(" ", rank);
  }
  *index = static_cast<uint32_t>(told.communicators_.size());
  told.communicators_.push_back({communicator->rank_count});
  return PRISM_STATUS_OK;
}

std::string ToldTrace::problem_of_part(const prism_trace_part_t& part) const {
  if (!is_message(part.kind)) {
    return "a part of it is neither send nor recv";
  }
  if (part.communicator >= communicators_.size()) {
    return "a part of it is of the communicator " + std::to_string(part.communicator) + " of " +
           std::to_string(communicators_.size());
  }
  const bool of_any = part.peer == PRISM_ANY_SOURCE && part.kind == PRISM_COMM_RECV;
  if (!of_any && (part.peer < 0 ||
                  static_cast<uint64_t>(part.peer) >= communicators_[part.communicator].members)) {
    return "a part of it has the peer " + std::to_string(part.peer);
  }
  return problem_of_span(part.start_ns, part.end_ns);
}

std::string ToldTrace::problem_of(const prism_trace_node_t& node) const {
  const bool messages = is_message(node.kind) || node.kind == PRISM_NODE_BATCH;
  if (node.kind != PRISM_NODE_COMPUTE && !is_collective(node.kind) && !messages) {
    return "it has the unknown kind " + std::to_string(node.kind);
  }
  if (node.part_count > kMostEntries || (node.part_count > 0 && node.parts == nullptr) ||
      (node.dependency_count > 0 && node.dependencies == nullptr)) {
    return "it has parts or dependencies that cannot be";
  }
  if (node.lane >= lanes_.size()) {
    return "it is on lane " + std::to_string(node.lane) + " of " + std::to_string(lanes_.size());
  }
  if (std::string span = problem_of_span(node.start_ns, node.end_ns); !span.empty()) {
    return span;
  }
  if (node.start_ns < lanes_[node.lane].end_ns) {
    return "it starts before the node before it on its lane has ended";
  }
  if (is_collective(node.kind)) {
    if (node.communicator >= communicators_.size()) {
      return "it is a collective without a communicator";
    }
    const Communicator& of = communicators_[node.communicator];
    if (node.sequence >= 0 && static_cast<uint64_t>(node.sequence) < of.next_sequence) {
      return "its sequence number comes after a larger one";
    }
  }
  if (messages && node.part_count == 0) {
    return "it is a message without parts";
  }
  for (uint64_t i = 0; i < node.part_count; ++i) {
    if (std::string part = problem_of_part(node.parts[i]); !part.empty()) {
      return part;
    }
  }
  for (uint64_t i = 0; i < node.dependency_count; ++i) {
    if (node.dependencies[i] >= nodes_) {
      return "it depends on node " + std::to_string(node.dependencies[i]) +
             ", which is not there yet";
    }
  }
  return node.iteration >= kMostIterations
             ? "its iteration " + std::to_string(node.iteration) + " cannot be right"
             : "";
}

void ToldTrace::keep(const prism_trace_node_t& node) {
  names_.push_back(host::clean_text(node.name));
  text_ += line("node", node.kind, node.lane, node.communicator, node.start_ns, node.end_ns,
                node.sequence, node.root, node.dtype, node.reduction, node.iteration,
                node.input_bytes, node.output_bytes, node.micro_batch, node.chunk, node.layer,
                names_.back(), host::clean_text(node.phase));
  for (uint64_t i = 0; i < node.part_count; ++i) {
    const prism_trace_part_t& part = node.parts[i];
    text_ += line(" part", part.kind, part.peer, part.tag, part.communicator, part.dtype,
                  part.bytes, part.start_ns, part.end_ns);
  }
  for (uint64_t i = 0; i < node.dependency_count; ++i) {
    text_ += line(" after", node.dependencies[i]);
  }
  lanes_[node.lane].end_ns = node.end_ns;
  if (is_collective(node.kind)) {
    uint64_t& next = communicators_[node.communicator].next_sequence;
    next = (node.sequence < 0 ? next : static_cast<uint64_t>(node.sequence)) + 1;
  }
}

prism_status_t ToldTrace::add_node(void* ctx, const prism_trace_node_t* node, uint32_t* index,
                                   const Err* err) noexcept {
  ToldTrace& told = self(ctx);
  prism_status_t status = PRISM_STATUS_OK;
  if (!told.take(err, status)) {
    return status;
  }
  if (told.ranks_.empty()) {
    return told.answer("a node comes before the first rank", err);
  }
  if (node == nullptr || index == nullptr) {
    return told.answer("add_node gets no node, or no place for its index", err);
  }
  if (const std::string problem = told.problem_of(*node); !problem.empty()) {
    return told.answer("node " + std::to_string(told.nodes_) + " of rank " +
                           std::to_string(told.ranks_.back()) + ": " + problem,
                       err);
  }
  told.keep(*node);
  *index = static_cast<uint32_t>(told.nodes_);
  ++told.nodes_;
  ++told.all_nodes_;
  return PRISM_STATUS_OK;
}

void ToldTrace::note(void* ctx, prism_str_t text) noexcept {
  self(ctx).text_ += line("note", host::clean_text(text));
}

}  // namespace prism::conformance
