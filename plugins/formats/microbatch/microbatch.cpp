// SPDX-License-Identifier: Apache-2.0
/// Traces at the granularity of micro-batches, as published with StragglerAnalysis: one file for
/// all ranks of a job, as CSV or as Chrome JSON. docs/trace-formats.md says what becomes of it.
#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "input_file.hpp"
#include "job.hpp"
#include "sizes.hpp"

#include "prism/sdk/format.hpp"
#include "prism/sdk/plugin.hpp"

namespace {

using prism::microbatch::Group;
using prism::microbatch::Job;
using prism::microbatch::kNone;
using prism::microbatch::Lane;
using prism::microbatch::Node;
using prism::microbatch::Operation;
using prism::microbatch::Part;
using prism::microbatch::Trace;

constexpr std::string_view kBackend = "nccl";
constexpr size_t kMostSteps = 64;  // in a note

bool has_suffix(std::string_view path, std::string_view suffix) {
  return path.ends_with(suffix) || path.ends_with(std::string(suffix) + ".gz");
}

/// Tells the host of one rank after the other.
class Teller {
 public:
  Teller(const Job& job, prism::sdk::TraceSink& sink) : job_(job), sink_(sink) {}

  void tell_rank(uint32_t worker) {
    constexpr uint32_t kClock = 0;  // starts and ends were aligned between ranks
    sink_.begin_rank(worker, kClock, job_.trace.path);
    for (const Lane& lane : job_.programs[worker].lanes) {
      sink_.add_lane(lane.kind, lane.name);
    }
    communicators_.assign(job_.groups.size(), PRISM_NO_INDEX);
    for (size_t g = 0; g < job_.groups.size(); ++g) {
      const Group& group = job_.groups[g];
      if (std::binary_search(group.workers.begin(), group.workers.end(), worker)) {
        communicators_[g] = sink_.add_communicator(
            {group.name, group.description, std::string(kBackend), group.workers});
      }
    }
    for (const Node& node : job_.programs[worker].nodes) {
      tell_node(node);
    }
  }

  void tell_notes() {
    for (const std::string& note : job_.notes) {
      sink_.note(note);
    }
    std::string steps;
    for (size_t i = 0; i < std::min(job_.steps.size(), kMostSteps); ++i) {
      steps += (i == 0 ? "" : ", ") + std::to_string(job_.steps[i]);
    }
    sink_.note("the iterations are the steps " + steps +
               (job_.steps.size() > kMostSteps ? ", ..." : "") +
               ", one after the other without what lay between them");
  }

 private:
  void tell_node(const Node& node) {
    const Operation& operation = job_.operation(node.operation);
    prism::sdk::TraceNode told;
    told.lane = node.lane;
    told.start_ns = node.start_ns;
    told.end_ns = node.end_ns;
    told.dependencies = node.dependencies;
    told.name = operation.name;
    told.phase = operation.phase;
    told.iteration = node.iteration;
    told.micro_batch = node.micro_batch;
    told.chunk = node.chunk;
    std::vector<prism_trace_part_t> parts;
    for (const Part& part : node.parts) {
      parts.push_back(part_of(part, node));
    }
    if (!parts.empty()) {
      told.kind = parts.size() > 1 ? PRISM_NODE_BATCH : parts.front().kind;
      told.parts = parts;
      told.name = batch_name(node);
    } else if (node.group != kNone) {
      told.kind = operation.kind;
      told.communicator = communicators_[node.group];
      told.reduction =
          operation.kind == PRISM_COMM_ALL_GATHER ? PRISM_REDUCE_NONE : PRISM_REDUCE_SUM;
    }
    sink_.add_node(told);
  }

  prism_trace_part_t part_of(const Part& part, const Node& node) const {
    const std::vector<uint32_t>& ranks = job_.groups[part.group].workers;
    prism_trace_part_t told{};
    told.kind = job_.operation(part.operation).kind;
    told.peer = static_cast<int32_t>(std::lower_bound(ranks.begin(), ranks.end(), part.peer) -
                                     ranks.begin());
    told.communicator = communicators_[part.group];
    told.dtype = PRISM_DTYPE_OTHER;
    told.start_ns = node.start_ns;
    told.end_ns = node.end_ns;
    return told;
  }

  /// Of all its parts.
  std::string_view batch_name(const Node& node) {
    name_.clear();
    for (const Part& part : node.parts) {
      name_ += (name_.empty() ? "" : "+") + std::string(job_.operation(part.operation).name);
    }
    return name_;
  }

  const Job& job_;
  prism::sdk::TraceSink& sink_;
  std::vector<uint32_t> communicators_;  // by group
  std::string name_;
};

class MicrobatchFormat {
 public:
  explicit MicrobatchFormat(const prism::sdk::OptionValues& /*values*/) {}

  static bool recognises(const std::string& path) {
    std::array<char, 4096> buffer{};
    const std::string_view head(buffer.data(), prism::microbatch::InputFile(path).read(buffer));
    if (has_suffix(path, ".csv")) {
      const std::string_view header = head.substr(0, head.find('\n'));
      return header.find("optype") != header.npos && header.find("seq_id") != header.npos;
    }
    return has_suffix(path, ".json") && head.find("\"mb_id\"") != head.npos &&
           head.find("\"seq_id\"") != head.npos;
  }

  void import_trace(std::span<const prism::sdk::TraceInput> inputs, prism::sdk::TraceSink& sink) {
    if (inputs.size() != 1 || inputs.front().rank) {
      throw prism::sdk::Error(PRISM_STATUS_INVALID_ARGUMENT,
                              "a micro-batch trace is one file for all ranks: name one file, "
                              "without a rank");
    }
    const std::string& path = inputs.front().path;
    if (!has_suffix(path, ".csv") && !has_suffix(path, ".json")) {
      throw prism::sdk::Error(PRISM_STATUS_INVALID_ARGUMENT,
                              path + ": .csv, .json, .csv.gz or .json.gz was expected");
    }
    Trace trace = has_suffix(path, ".csv") ? prism::microbatch::read_csv(path)
                                           : prism::microbatch::read_json(path);
    note_ranks(trace, sink);
    const Job job = prism::microbatch::make_job(std::move(trace));
    Teller teller(job, sink);
    for (uint32_t worker = 0; worker < job.programs.size(); ++worker) {
      teller.tell_rank(worker);
    }
    teller.tell_notes();
  }

 private:
  static void note_ranks(const Trace& trace, prism::sdk::TraceSink& sink) {
    if (trace.workers.back().number + 1 != static_cast<int64_t>(trace.workers.size())) {
      sink.note("ranks are numbered from 0 without gaps; in the file they go up to " +
                std::to_string(trace.workers.back().number));
    }
    if (const auto sizes = prism::microbatch::read_sizes(trace.path)) {
      if (const std::string differences = compare_sizes(trace, *sizes); !differences.empty()) {
        sink.note("the job is larger than what the trace shows, or another one: " + differences);
      }
    }
  }
};

}  // namespace

PRISM_PLUGIN(PRISM_PLUGIN_ID, PRISM_PLUGIN_VERSION, prism::sdk::Format<MicrobatchFormat>);
