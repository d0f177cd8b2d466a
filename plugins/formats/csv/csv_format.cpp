// SPDX-License-Identifier: Apache-2.0
/// One line per node, for spreadsheets and data frames. Messages of a batch are one line: its bytes
/// are those of all.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/formats/node_text.hpp"
#include "plugins/formats/output_file.hpp"
#include "prism/sdk/format.hpp"
#include "prism/sdk/plugin.hpp"

namespace {

using prism::sdk::ReplayedNode;
using prism::sdk::TraceCommunicator;
using prism::sdk::TraceNode;
using prism::sdk::TraceReader;

constexpr std::string_view kHeader =
    "rank,node,lane,kind,name,phase,iteration,micro_batch,chunk,layer,arrival_ns,start_ns,end_ns,"
    "communicator,sequence,peers,input_bytes,output_bytes,dependencies\r\n";

/// One line by RFC 4180: fields with commas, quotes or line ends stand in quotes.
class Row {
 public:
  void text(std::string_view field) {
    separate();
    if (field.find_first_of(",\"\r\n") == field.npos) {
      line_ += field;
      return;
    }
    line_ += '"';
    for (const char c : field) {
      line_ += c;
      if (c == '"') {
        line_ += c;
      }
    }
    line_ += '"';
  }
  template <typename Number>
  void number(Number value) {
    separate();
    line_ += std::to_string(value);
  }
  /// Nothing for what is not known.
  template <typename Number>
  void known(Number value) {
    if (value < 0) {
      separate();
    } else {
      number(value);
    }
  }
  std::string_view end() { return line_ += "\r\n"; }
  void clear() { line_.clear(); }

 private:
  void separate() {
    if (!line_.empty()) {
      line_ += ',';
    }
  }
  std::string line_;
};

/// What concerns other ranks.
struct Communication {
  std::string communicators;
  std::string peers;  ///< ranks, of messages
  uint64_t input_bytes = 0;
  uint64_t output_bytes = 0;
};

class CsvWriter {
 public:
  CsvWriter(const TraceReader& reader, const std::string& path) : reader_(reader), file_(path) {}

  void write() {
    file_.write(kHeader);
    for (const uint32_t rank : reader_.ranks()) {
      communicators_.clear();
      for (uint64_t i = 0; i < reader_.communicator_count(rank); ++i) {
        communicators_.push_back(reader_.communicator(rank, i));
      }
      for (uint64_t n = 0; n < reader_.node_count(rank); ++n) {
        write_node(rank, n);
      }
    }
    file_.close();
  }

 private:
  void write_node(uint32_t rank, uint64_t n) {
    const ReplayedNode replayed = reader_.node(rank, n);
    const TraceNode& node = replayed.node;
    const Communication communication = communication_of(node);
    row_.clear();
    row_.number(rank);
    row_.number(n);
    row_.text(reader_.lane(rank, node.lane).name);
    row_.text(prism::formats::kind_name(node.kind));
    row_.text(node.name);
    row_.text(node.phase);
    for (const int32_t label : {node.iteration, node.micro_batch, node.chunk, node.layer}) {
      row_.known(label);
    }
    for (const int64_t time : {replayed.arrival_ns, node.start_ns, node.end_ns}) {
      row_.number(time);
    }
    row_.text(communication.communicators);
    row_.known(node.sequence);
    row_.text(communication.peers);
    row_.number(communication.input_bytes);
    row_.number(communication.output_bytes);
    std::string dependencies;
    for (const uint32_t dependency : node.dependencies) {
      dependencies += (dependencies.empty() ? "" : " ") + std::to_string(dependency);
    }
    row_.text(dependencies);
    file_.write(row_.end());
  }

  Communication communication_of(const TraceNode& node) const {
    Communication result;
    if (node.parts.empty()) {
      result.input_bytes = node.input_bytes;
      result.output_bytes = node.output_bytes;
      if (node.communicator < communicators_.size()) {
        result.communicators = communicators_[node.communicator].name;
      }
      return result;
    }
    uint32_t last = PRISM_NO_INDEX;
    for (const prism_trace_part_t& part : node.parts) {
      const TraceCommunicator& communicator = communicators_.at(part.communicator);
      if (part.communicator != last) {
        result.communicators += (last == PRISM_NO_INDEX ? "" : "; ") + communicator.name;
        last = part.communicator;
      }
      result.peers += result.peers.empty() ? "" : " ";
      result.peers += part.peer < 0
                          ? "any"
                          : std::to_string(communicator.ranks.at(static_cast<size_t>(part.peer)));
      (part.kind == PRISM_COMM_SEND ? result.input_bytes : result.output_bytes) += part.bytes;
    }
    return result;
  }

  const TraceReader& reader_;
  prism::formats::OutputFile file_;
  std::vector<TraceCommunicator> communicators_;  // of the rank
  Row row_;
};

class CsvFormat {
 public:
  explicit CsvFormat(const prism::sdk::OptionValues& /*values*/) {}

  static void export_trace(const TraceReader& reader, const std::string& path) {
    CsvWriter(reader, path).write();
  }
};

}  // namespace

PRISM_PLUGIN(PRISM_PLUGIN_ID, PRISM_PLUGIN_VERSION, prism::sdk::Format<CsvFormat>);
