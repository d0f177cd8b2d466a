// SPDX-License-Identifier: Apache-2.0
// What perfetto and csv write, of two ranks that were made up.
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "prism/sdk/testing/fake_trace_reader.hpp"
#include "tests/plugins/formats/format_plugin.hpp"

namespace prism::formats_test {
namespace {

using sdk::testing::FakeTraceReader;
using sdk::testing::TraceRecord;
using testing::HasSubstr;

TraceRecord::Node node(int32_t kind, uint32_t lane, int64_t start_ns, int64_t end_ns,
                       const std::string& name) {
  TraceRecord::Node node;
  node.c.struct_size = sizeof node.c;
  node.c.kind = kind;
  node.c.lane = lane;
  node.c.start_ns = start_ns;
  node.c.end_ns = end_ns;
  node.c.communicator = PRISM_NO_INDEX;
  node.c.sequence = node.c.root = node.c.layer = node.c.chunk = -1;
  node.c.iteration = 0;
  node.c.micro_batch = 2;
  node.name = name;
  node.phase = "forward";
  return node;
}

/// A computation, an all-reduce for which rank 0 waits 2 us, and a message from 0 to 1.
TraceRecord::Rank rank(uint32_t number) {
  TraceRecord::Rank rank;
  rank.rank = number;
  rank.lanes = {{PRISM_LANE_STREAM, "compute"}, {PRISM_LANE_COMM, "dp, \"all\""}};
  rank.communicators = {{"dp", "data parallel", "nccl", {0, 1}}};
  rank.nodes.push_back(
      node(PRISM_NODE_COMPUTE, 0, 1'000'000'000, number == 0 ? 1'000'003'000 : 1'000'005'000, "f"));
  rank.nodes.push_back(node(PRISM_COMM_ALL_REDUCE, 1, 1'000'005'000, 1'000'006'001, ""));
  rank.nodes.back().c.communicator = 0;
  rank.nodes.back().c.sequence = 4;
  rank.nodes.back().c.input_bytes = rank.nodes.back().c.output_bytes = 64;
  rank.nodes.back().dependencies = {0};
  rank.nodes.push_back(node(number == 0 ? PRISM_COMM_SEND : PRISM_COMM_RECV, 1, 1'000'006'001,
                            1'000'007'000, "pass\non"));
  prism_trace_part_t part{};
  part.kind = rank.nodes.back().c.kind;
  part.peer = number == 0 ? 1 : 0;
  part.bytes = 32;
  rank.nodes.back().parts = {part};
  return rank;
}

class Exporters : public testing::Test {
 protected:
  Exporters() { reader_.set_arrival(0, 1, 1'000'003'000); }

  std::string exported(const std::string& id) {
    FormatPlugin plugin(id);
    const std::string path = folder_.file("out");
    EXPECT_EQ(plugin.export_to(path, reader_.c()), PRISM_STATUS_OK) << plugin.message();
    return read_all(path);
  }
  static size_t count(const std::string& text, const std::string& what) {
    size_t n = 0;
    for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
      ++n;
    }
    return n;
  }

  Folder folder_;
  FakeTraceReader reader_{{rank(0), rank(1)}};
};

TEST_F(Exporters, CsvHasALinePerNode) {
  EXPECT_EQ(exported("csv"),
            "rank,node,lane,kind,name,phase,iteration,micro_batch,chunk,layer,arrival_ns,start_ns,"
            "end_ns,communicator,sequence,peers,input_bytes,output_bytes,dependencies\r\n"
            "0,0,compute,compute,f,forward,0,2,,,1000000000,1000000000,1000003000,,,,0,0,\r\n"
            "0,1,\"dp, \"\"all\"\"\",all_reduce,,forward,0,2,,,1000003000,1000005000,1000006001,"
            "dp,4,,64,64,0\r\n"
            "0,2,\"dp, \"\"all\"\"\",send,\"pass\non\",forward,0,2,,,1000006001,1000006001,"
            "1000007000,dp,,1,32,0,\r\n"
            "1,0,compute,compute,f,forward,0,2,,,1000000000,1000000000,1000005000,,,,0,0,\r\n"
            "1,1,\"dp, \"\"all\"\"\",all_reduce,,forward,0,2,,,1000005000,1000005000,1000006001,"
            "dp,4,,64,64,0\r\n"
            "1,2,\"dp, \"\"all\"\"\",recv,\"pass\non\",forward,0,2,,,1000006001,1000006001,"
            "1000007000,dp,,0,0,32,\r\n");
}

TEST_F(Exporters, PerfettoShowsRanksLanesAndSlices) {
  const std::string json = exported("perfetto");
  EXPECT_THAT(json, HasSubstr(R"({"ph": "M", "pid": 1, "tid": 0, "name": "process_name", )"
                              R"("args": {"name": "rank 1"}})"));
  EXPECT_THAT(json, HasSubstr(R"("name": "thread_name", "args": {"name": "dp, \"all\""}})"));
  EXPECT_THAT(json, HasSubstr(R"({"ph": "X", "pid": 0, "tid": 0, "ts": 0.000, "dur": 3.000, )"
                              R"("name": "f", "args": {"node": 0, "phase": "forward", )"
                              R"("iteration": 0, "micro_batch": 2}})"));
  EXPECT_THAT(json,
              HasSubstr(R"("ts": 3.000, "dur": 3.001, "name": "all_reduce 4", "args": )"
                        R"({"node": 1, "phase": "forward", "iteration": 0, "micro_batch": 2, )"
                        R"("kind": "all_reduce", "waited_ns": 2000, "group": "dp", )"
                        R"("input_bytes": 64, "output_bytes": 64}})"));
  EXPECT_THAT(json, HasSubstr(R"("messages": "send to rank 1, 32 bytes, dp")"));
  EXPECT_THAT(json, HasSubstr(R"("name": "pass\u000aon")"));
  EXPECT_EQ(count(json, "\"ph\": \"X\""), 6U);
}

TEST_F(Exporters, PerfettoHasArrows) {
  const std::string json = exported("perfetto");
  // Two dependencies between lanes, the late rank of the all-reduce, the message.
  EXPECT_EQ(count(json, "\"ph\": \"s\""), 4U);
  EXPECT_EQ(count(json, "\"ph\": \"f\""), 4U);
  EXPECT_THAT(json, HasSubstr(R"({"ph": "s", "pid": 0, "tid": 0, "ts": 2.999, "name": )"
                              R"("dependency")"));
  EXPECT_THAT(json, HasSubstr(R"({"ph": "s", "pid": 1, "tid": 1, "ts": 5.000, "name": )"
                              R"("communication", "cat": "flow", "id": 3})"));
  EXPECT_THAT(json, HasSubstr(R"({"ph": "f", "pid": 0, "tid": 1, "ts": 6.000, "name": )"
                              R"("communication", "cat": "flow", "id": 3, "bp": "e"})"));
}

TEST_F(Exporters, AFullDiskIsAnErrorThatNamesTheFile) {
  if (!std::filesystem::exists("/dev/full")) {
    GTEST_SKIP() << "no /dev/full here";
  }
  for (const char* id : {"csv", "perfetto"}) {
    FormatPlugin plugin(id);
    EXPECT_EQ(plugin.export_to("/dev/full", reader_.c()), PRISM_STATUS_RESOURCE_EXHAUSTED);
    EXPECT_THAT(plugin.message(), HasSubstr("/dev/full: cannot be written: No space left"));
    EXPECT_NE(plugin.export_to(folder_.file("no/such/folder"), reader_.c()), PRISM_STATUS_OK);
    EXPECT_THAT(plugin.message(), HasSubstr("no/such/folder: cannot be opened for writing"));
  }
}

}  // namespace
}  // namespace prism::formats_test
