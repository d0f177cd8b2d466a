// SPDX-License-Identifier: Apache-2.0
// What Prism wrote comes back as it was, and what only looks like it is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/plugins/chakra/exported.hpp"

namespace prism::chakra::testing {
namespace {

using ::testing::HasSubstr;

void expect_same(const RecordedNode& told, const RecordedNode& node, int64_t arrival_ns) {
  EXPECT_EQ(told.c.kind, node.c.kind);
  EXPECT_EQ(told.c.lane, node.c.lane);
  EXPECT_EQ(told.c.start_ns, arrival_ns);
  EXPECT_EQ(told.c.end_ns, node.c.end_ns);
  EXPECT_EQ(told.c.communicator, node.c.communicator);
  EXPECT_EQ(told.c.sequence, node.c.sequence);
  EXPECT_EQ(told.c.root, node.c.root);
  EXPECT_EQ(told.c.dtype, node.c.dtype);
  EXPECT_EQ(told.c.reduction, node.c.reduction);
  EXPECT_EQ(told.c.input_bytes, node.c.input_bytes);
  EXPECT_EQ(told.c.output_bytes, node.c.output_bytes);
  EXPECT_EQ(told.c.iteration, node.c.iteration);
  EXPECT_EQ(told.c.micro_batch, node.c.micro_batch);
  EXPECT_EQ(told.c.chunk, node.c.chunk);
  EXPECT_EQ(told.c.layer, node.c.layer);
  EXPECT_EQ(told.name, node.name);
  EXPECT_EQ(told.phase, node.phase);
  EXPECT_EQ(told.dependencies, node.dependencies);
  ASSERT_EQ(told.parts.size(), node.parts.size());
  for (size_t p = 0; p < node.parts.size(); ++p) {
    EXPECT_EQ(told.parts[p].kind, node.parts[p].kind);
    EXPECT_EQ(told.parts[p].peer, node.parts[p].peer);
    EXPECT_EQ(told.parts[p].tag, node.parts[p].tag);
    EXPECT_EQ(told.parts[p].communicator, node.parts[p].communicator);
    EXPECT_EQ(told.parts[p].dtype, node.parts[p].dtype);
    EXPECT_EQ(told.parts[p].bytes, node.parts[p].bytes);
  }
}

TEST(ChakraOwnTrace, ComesBackAsItWas) {
  const Exported exported;
  const std::vector<sdk::TraceInput> inputs = {{exported.path(1), std::nullopt},
                                               {exported.path(0), std::nullopt}};
  Record record;
  sdk::TraceSink sink(record.c());
  import_traces(inputs, {}, sink);
  EXPECT_TRUE(record.notes.empty());
  ASSERT_EQ(record.ranks.size(), 2U);
  for (uint32_t number = 0; number < 2; ++number) {
    const RecordedRank& told = record.ranks[number];
    const RecordedRank rank = rank_of(number);
    EXPECT_EQ(told.rank, number);
    EXPECT_EQ(told.clock, 0U);
    ASSERT_EQ(told.lanes.size(), rank.lanes.size()) << "also one without nodes";
    for (size_t i = 0; i < rank.lanes.size(); ++i) {
      EXPECT_EQ(told.lanes[i].kind, rank.lanes[i].kind);
      EXPECT_EQ(told.lanes[i].name, rank.lanes[i].name);
    }
    ASSERT_EQ(told.communicators.size(), rank.communicators.size());
    for (size_t i = 0; i < rank.communicators.size(); ++i) {
      EXPECT_EQ(told.communicators[i].name, rank.communicators[i].name);
      EXPECT_EQ(told.communicators[i].description, rank.communicators[i].description);
      EXPECT_EQ(told.communicators[i].backend, rank.communicators[i].backend);
      EXPECT_EQ(told.communicators[i].ranks, rank.communicators[i].ranks);
    }
    ASSERT_EQ(told.nodes.size(), rank.nodes.size());
    for (size_t n = 0; n < rank.nodes.size(); ++n) {
      SCOPED_TRACE(n);
      const bool waited = number == 0 && n == 2;
      expect_same(told.nodes[n], rank.nodes[n], waited ? 3'000 : rank.nodes[n].c.start_ns);
    }
  }
}

TEST(ChakraOwnTrace, AReceiveFromAnySourceStaysOne) {
  RecordedRank rank = rank_of(1);
  rank.rank = 0;
  rank.communicators[1].ranks = {0};
  rank.communicators[0].ranks = {0};
  rank.nodes = {node_of(PRISM_COMM_RECV, 2, 0, 10, "any")};
  rank.nodes[0].parts = {part_of(PRISM_COMM_RECV, PRISM_ANY_SOURCE, 0, 8)};
  const sdk::testing::FakeTraceReader reader({rank});
  const TemporaryFolder folder;
  export_traces(sdk::TraceReader(reader.c()), folder.path());
  Record record;
  sdk::TraceSink sink(record.c());
  const sdk::TraceInput input{folder.path() + "/trace.0.et", std::nullopt};
  import_traces({&input, 1}, {}, sink);
  EXPECT_EQ(record.ranks.at(0).nodes.at(0).parts.at(0).peer, PRISM_ANY_SOURCE);
}

// ---- What Prism does not write ----

class Metadata {
 public:
  Metadata() {
    to_.integer(own::kVersion, own::kRevision);
    to_.texts(own::kLaneNames, {"cpu"});
    to_.integers(own::kLaneKinds, {PRISM_LANE_CPU});
  }
  AttributeWriter& to() { return to_; }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
  AttributeWriter to_{bytes_, metadata_field::kAttribute};
};

NodeBytes placed(NodeBytes node, int64_t lane, int64_t start_ns, int64_t end_ns) {
  return node.integer(own::kLane, lane).integer(own::kStart, start_ns).integer(own::kEnd, end_ns);
}

std::string error_of(const std::vector<NodeBytes>& nodes, const Metadata& metadata = {}) {
  TraceBytes trace(metadata.bytes());
  for (const NodeBytes& node : nodes) {
    trace.add(node);
  }
  return Imported({trace}).error();
}

TEST(ChakraOwnTrace, NodesThatPrismDidNotWriteAreNamed) {
  EXPECT_EQ(error_of({placed(computation(5), 0, 0, 1)}), "");
  EXPECT_THAT(error_of({computation(5)}), HasSubstr("node 5 has no attributes of Prism"));
  EXPECT_THAT(error_of({computation(5).integer(own::kLane, 0)}),
              HasSubstr("node 5 lacks one of prism.lane, prism.start_ns and prism.end_ns"));
  EXPECT_THAT(error_of({placed(computation(5), 1, 0, 1)}), HasSubstr("node 5 is on lane 1 of 1"));
  EXPECT_THAT(error_of({placed(computation(5), 0, 2, 1)}),
              HasSubstr("node 5 is from 2 to 1 ns, out of order on its lane 'cpu'"));
  EXPECT_THAT(error_of({placed(computation(5), 0, 0, 3), placed(computation(6), 0, 2, 4)}),
              HasSubstr("node 6 is from 2 to 4 ns, out of order on its lane 'cpu'"));
}

TEST(ChakraOwnTrace, CommunicationsThatPrismDidNotWriteAreNamed) {
  EXPECT_THAT(error_of({placed(collective(5, CollectiveType::Barrier, 0), 0, 0, 1)}),
              HasSubstr("node 5 is of no communicator that the metadata has"));
  EXPECT_THAT(error_of({placed(NodeBytes(5, "", NodeType::Send), 0, 0, 1)}),
              HasSubstr("node 5 is a communication but lacks prism.communicator"));
  EXPECT_THAT(error_of({placed(computation(5).flag(own::kBatch, true), 0, 0, 1)}),
              HasSubstr("node 5 is a batch without parts"));
  EXPECT_THAT(error_of({placed(computation(5), 0, 0, 1),
                        placed(computation(6).data({5}).flag(own::kBatch, true), 0, 1, 2)}),
              HasSubstr("node 6 is a batch and depends on node 5, which is no part of it"));
  EXPECT_THAT(error_of({NodeBytes(5, "", NodeType::Send).flag(own::kPart, true),
                        placed(computation(6).data({5}), 0, 1, 2)}),
              HasSubstr("node 6 depends on node 5, which is part of another"));
}

TEST(ChakraOwnTrace, MetadataThatPrismDidNotWriteIsNamed) {
  const std::vector<NodeBytes> nodes = {placed(computation(5), 0, 0, 1)};
  Metadata newer;
  newer.to().integer(own::kVersion, own::kRevision + 1);
  EXPECT_THAT(error_of(nodes, newer),
              HasSubstr("another version of Prism (prism.version 2; 1 was"));
  Metadata uneven;
  uneven.to().integers(own::kCommunicatorSizes, {1});
  EXPECT_THAT(error_of(nodes, uneven), HasSubstr("differ in length"));
  Metadata few;
  few.to().texts(own::kCommunicatorNames, {"a"});
  few.to().texts(own::kCommunicatorDescriptions, {""});
  few.to().texts(own::kCommunicatorBackends, {""});
  few.to().integers(own::kCommunicatorSizes, {2});
  few.to().integers(own::kCommunicatorRanks, {0});
  EXPECT_THAT(error_of(nodes, few), HasSubstr("has fewer ranks than"));
}

}  // namespace
}  // namespace prism::chakra::testing
