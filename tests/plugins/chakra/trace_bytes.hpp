// SPDX-License-Identifier: Apache-2.0
/// Traces for the tests, written message by message, and what the importer makes of them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>
#include <vector>

#include "plugins/formats/chakra/attribute.hpp"
#include "plugins/formats/chakra/import.hpp"
#include "plugins/formats/chakra/schema.hpp"
#include "prism/sdk/testing/trace_record.hpp"

namespace prism::chakra::testing {

using Record = sdk::testing::TraceRecord;
using RecordedNode = Record::Node;
using RecordedRank = Record::Rank;

/// A message Node.
class NodeBytes {
 public:
  NodeBytes(uint64_t id, const std::string& name, NodeType type) {
    put_number(bytes_, node_field::kId, id);
    put_bytes(bytes_, node_field::kName, name);
    put_number(bytes_, node_field::kType, static_cast<uint64_t>(type));
  }
  NodeBytes& data(const std::vector<uint64_t>& ids) {
    std::string packed;
    for (const uint64_t id : ids) {
      put_varint(packed, id);
    }
    put_bytes(bytes_, node_field::kDataDependencies, packed);
    return *this;
  }
  NodeBytes& control(uint64_t id) { return number(node_field::kControlDependencies, id); }
  NodeBytes& times(uint64_t start_us, uint64_t duration_us) {
    return number(node_field::kStart, start_us).number(node_field::kDuration, duration_us);
  }
  NodeBytes& number(uint32_t field, uint64_t value) {
    put_number(bytes_, field, value);
    return *this;
  }
  NodeBytes& inputs(std::string_view values) {
    std::string message;
    put_bytes(message, io_field::kValues, values);
    put_bytes(bytes_, node_field::kInputs, message);
    return *this;
  }
  NodeBytes& flag(std::string_view name, bool value) {
    AttributeWriter(bytes_, node_field::kAttribute).flag(name, value);
    return *this;
  }
  NodeBytes& integer(std::string_view name, int64_t value) {
    AttributeWriter(bytes_, node_field::kAttribute).integer(name, value);
    return *this;
  }
  NodeBytes& text(std::string_view name, std::string_view value) {
    AttributeWriter(bytes_, node_field::kAttribute).text(name, value);
    return *this;
  }
  NodeBytes& raw(std::string_view bytes) {
    bytes_ += bytes;
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

inline NodeBytes computation(uint64_t id, const std::string& name = "compute") {
  return {id, name, NodeType::Compute};
}
inline NodeBytes on_cpu(uint64_t id, const std::string& name = "operation") {
  return computation(id, name).flag(attribute::kOnCpu, true);
}
inline NodeBytes collective(uint64_t id, CollectiveType type, int64_t bytes) {
  return NodeBytes(id, "collective", NodeType::Collective)
      .flag(attribute::kOnCpu, false)
      .integer(attribute::kCollective, static_cast<int64_t>(type))
      .integer(attribute::kSize, bytes);
}

/// A file: the metadata, then nodes.
class TraceBytes {
 public:
  TraceBytes() : TraceBytes(std::string()) {}
  explicit TraceBytes(const std::string& attributes_of_metadata) {
    std::string metadata;
    put_bytes(metadata, metadata_field::kVersion, kVersion);
    message(metadata + attributes_of_metadata);
  }
  TraceBytes& add(const NodeBytes& node) { return message(node.bytes()); }
  TraceBytes& message(std::string_view bytes) {
    put_varint(bytes_, bytes.size());
    bytes_ += bytes;
    return *this;
  }
  TraceBytes& raw(std::string_view bytes) {
    bytes_ += bytes;
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

/// Files of a test, removed at its end.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "chakra-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) {
      throw std::runtime_error("no temporary folder");
    }
    path_ = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }

  const std::string& path() const { return path_; }
  std::string file(const std::string& name, std::string_view content) const {
    const std::string path = path_ + "/" + name;
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }

 private:
  std::string path_;
};

/// Files of ranks 0, 1, ..., imported.
class Imported {
 public:
  explicit Imported(const std::vector<TraceBytes>& ranks, ImportOptions options = {}) {
    std::vector<sdk::TraceInput> inputs;
    for (size_t rank = 0; rank < ranks.size(); ++rank) {
      inputs.push_back({folder_.file("trace." + std::to_string(rank) + ".et", ranks[rank].bytes()),
                        std::nullopt});
    }
    sdk::TraceSink sink(record_.c());
    try {
      import_traces(inputs, options, sink);
    } catch (const sdk::Error& error) {
      error_ = error.what();
      code_ = error.code();
    }
  }
  /// The complaint; empty: none.
  const std::string& error() const { return error_; }
  prism_status_t code() const { return code_; }
  const std::vector<std::string>& notes() const { return record_.notes; }
  const RecordedRank& rank(size_t index = 0) const { return record_.ranks.at(index); }
  const RecordedNode& node(std::string_view name, size_t rank_index = 0) const {
    for (const RecordedNode& node : rank(rank_index).nodes) {
      if (node.name == name) {
        return node;
      }
    }
    throw std::out_of_range("no node '" + std::string(name) + "': " + error_);
  }
  std::string lane(const RecordedNode& node, size_t rank_index = 0) const {
    return rank(rank_index).lanes.at(node.c.lane).name;
  }
  /// Names of what a node depends on.
  std::vector<std::string> needs(const RecordedNode& node, size_t rank_index = 0) const {
    std::vector<std::string> names;
    for (const uint32_t dependency : node.dependencies) {
      names.push_back(rank(rank_index).nodes.at(dependency).name);
    }
    return names;
  }

 private:
  TemporaryFolder folder_;
  Record record_;
  std::string error_;
  prism_status_t code_ = PRISM_STATUS_OK;
};

}  // namespace prism::chakra::testing
