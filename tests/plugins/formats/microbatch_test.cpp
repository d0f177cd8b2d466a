// SPDX-License-Identifier: Apache-2.0
// What becomes of a small job, and of files that are cut, damaged or wrong.
#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "tests/plugins/formats/format_plugin.hpp"
#include "tests/plugins/formats/microbatch_job.hpp"

namespace prism::formats_test {
namespace {

using sdk::testing::TraceRecord;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class Microbatch : public testing::Test {
 protected:
  void import(const std::string& name, const std::string& content) {
    ASSERT_EQ(plugin_.import(folder_.file(name, content), record_), PRISM_STATUS_OK)
        << plugin_.message();
  }
  std::string refusal(const std::string& name, const std::string& content) {
    TraceRecord record;
    EXPECT_NE(plugin_.import(folder_.file(name, content), record), PRISM_STATUS_OK);
    return plugin_.message();
  }
  /// The n-th node of a rank whose name is that.
  const TraceRecord::Node& node(size_t rank, const std::string& name, int n = 0) const {
    for (const TraceRecord::Node& node : record_.ranks.at(rank).nodes) {
      if (node.name == name && n-- == 0) {
        return node;
      }
    }
    throw std::runtime_error("no node " + name);
  }
  std::vector<std::string> dependencies(size_t rank, const TraceRecord::Node& node) const {
    std::vector<std::string> names;
    for (const uint32_t d : node.dependencies) {
      names.push_back(record_.ranks.at(rank).nodes.at(d).name);
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  Folder folder_;
  FormatPlugin plugin_{"microbatch"};
  TraceRecord record_;
};

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), by);
}

TEST_F(Microbatch, TellsRanksLanesAndNodes) {
  import("trace.csv", csv(small_job()));
  ASSERT_EQ(record_.ranks.size(), 4U);
  const TraceRecord::Rank& rank = record_.ranks[0];
  EXPECT_EQ(rank.clock, 0U);
  std::vector<std::string> lanes;
  for (const TraceRecord::Lane& lane : rank.lanes) {
    lanes.push_back(lane.name);
  }
  EXPECT_THAT(lanes,
              ElementsAre("params-all-gather", "compute", "forward-send",
                          "backward-recv+forward-send", "backward-recv", "grads-reduce-scatter"));
  EXPECT_EQ(rank.lanes[1].kind, PRISM_LANE_STREAM);
  EXPECT_EQ(rank.lanes[2].kind, PRISM_LANE_COMM);
  EXPECT_EQ(rank.nodes.size(), 11U);  // 12 operations, two of which are one batch
  const TraceRecord::Node& forward = node(0, "forward-compute", 1);
  EXPECT_EQ(forward.c.start_ns, 332'000);
  EXPECT_EQ(forward.c.end_ns, 532'000);
  EXPECT_EQ(forward.c.iteration, 0);
  EXPECT_EQ(forward.c.micro_batch, 1);
  EXPECT_EQ(forward.c.chunk, 0);
  EXPECT_EQ(forward.phase, "forward");
  EXPECT_THAT(record_.notes, testing::Contains(HasSubstr("the iterations are the steps 7,")));
}

TEST_F(Microbatch, MessagesKnowPeerAndMicroBatch) {
  import("trace.csv", csv(small_job()));
  const TraceRecord::Node& send = node(0, "forward-send");
  EXPECT_EQ(send.c.kind, PRISM_COMM_SEND);
  EXPECT_EQ(send.c.micro_batch, 0);
  ASSERT_EQ(send.parts.size(), 1U);
  EXPECT_EQ(send.parts[0].peer, 1);
  const auto& pipeline = record_.ranks[0].communicators[send.parts[0].communicator];
  EXPECT_EQ(pipeline.description, "pipeline forward");
  EXPECT_THAT(pipeline.ranks, ElementsAre(0U, 2U));

  const TraceRecord::Node& batch = node(0, "backward-recv+forward-send");
  EXPECT_EQ(batch.c.kind, PRISM_NODE_BATCH);
  EXPECT_EQ(batch.parts.size(), 2U);
  EXPECT_EQ(batch.c.micro_batch, 0);  // that of what it receives
  EXPECT_EQ(batch.phase, "backward");
}

TEST_F(Microbatch, CollectivesKnowTheirMembers) {
  import("trace.csv", csv(small_job()));
  const auto ranks = [&](size_t rank, const std::string& name) {
    return record_.ranks[rank].communicators[node(rank, name).c.communicator].ranks;
  };
  EXPECT_THAT(ranks(2, "params-all-gather"), ElementsAre(2U, 3U));
  EXPECT_THAT(ranks(1, "grads-reduce-scatter"), ElementsAre(0U, 1U));
  EXPECT_THAT(ranks(3, "optimizer-clip-main-grad"), ElementsAre(0U, 1U, 2U, 3U));
  EXPECT_EQ(node(2, "grads-reduce-scatter").c.kind, PRISM_COMM_REDUCE_SCATTER);
}

TEST_F(Microbatch, WhatWaitsForWhat) {
  import("trace.csv", csv(small_job()));
  EXPECT_THAT(dependencies(0, node(0, "forward-compute")), ElementsAre("params-all-gather"));
  EXPECT_THAT(dependencies(0, node(0, "forward-send")), ElementsAre("forward-compute"));
  EXPECT_THAT(dependencies(0, node(0, "backward-compute")),
              ElementsAre("backward-recv+forward-send"));
  EXPECT_THAT(dependencies(0, node(0, "grads-reduce-scatter")), ElementsAre("backward-compute"));
  EXPECT_THAT(dependencies(0, node(0, "optimizer-clip-main-grad")),
              ElementsAre("grads-reduce-scatter"));
  EXPECT_THAT(dependencies(2, node(2, "forward-compute")),
              ElementsAre("forward-recv", "params-all-gather"));
}

TEST_F(Microbatch, ADependencyThatTheTraceViolatesIsLeftOut) {
  std::vector<Row> rows = small_job();
  for (Row& row : rows) {  // the parameters come while the first micro-batch is computed
    if (row.operation == std::string("params-all-gather") && row.stage == 0) {
      row.duration_us = 290;
    }
  }
  import("trace.csv", csv(rows));
  EXPECT_THAT(dependencies(0, node(0, "forward-compute")), ElementsAre());
  EXPECT_THAT(record_.notes, testing::Contains(AllOf(HasSubstr("no dependency in"),
                                                     HasSubstr("the first use of the chunk"))));
}

TEST_F(Microbatch, StepsFollowEachOther) {
  const std::string second = csv(small_job(), 12);
  import("trace.csv", csv(small_job(), 9) + second.substr(second.find('\n') + 1));
  ASSERT_EQ(record_.ranks[0].nodes.size(), 22U);
  const TraceRecord::Node& gather = node(0, "params-all-gather", 1);
  EXPECT_EQ(gather.c.start_ns, 1'750'000);
  EXPECT_EQ(gather.c.iteration, 1);
  EXPECT_THAT(dependencies(0, gather), ElementsAre("optimizer"));
}

TEST_F(Microbatch, CsvAndJsonGiveTheSameGraph) {
  import("trace.csv", csv(small_job()));
  TraceRecord other;
  ASSERT_EQ(plugin_.import(folder_.file("timeline.json", json(small_job())), other),
            PRISM_STATUS_OK)
      << plugin_.message();
  ASSERT_EQ(other.ranks.size(), record_.ranks.size());
  for (size_t r = 0; r < other.ranks.size(); ++r) {
    ASSERT_EQ(other.ranks[r].nodes.size(), record_.ranks[r].nodes.size());
    for (size_t n = 0; n < other.ranks[r].nodes.size(); ++n) {
      const TraceRecord::Node& a = record_.ranks[r].nodes[n];
      const TraceRecord::Node& b = other.ranks[r].nodes[n];
      EXPECT_EQ(a.name, b.name);
      EXPECT_EQ(a.c.lane, b.c.lane);
      EXPECT_EQ(a.c.end_ns, b.c.end_ns);
      EXPECT_EQ(a.c.micro_batch, b.c.micro_batch);
      EXPECT_EQ(a.dependencies, b.dependencies);
      if (a.c.kind == PRISM_NODE_COMPUTE) {
        EXPECT_EQ(a.c.start_ns, b.c.start_ns) << a.name;
      }
    }
  }
}

TEST_F(Microbatch, ChunksOfAModelWrapAround) {
  std::string text = kCsvHeader;
  const auto row = [&](int stage, const char* what, int at, int sequence, int chunk, int mb) {
    text += "0," + std::to_string(stage) + "," + std::to_string(stage) + ",1," + what + "," +
            seconds(at) + "," + seconds(10) + "," + std::to_string(sequence) + "," +
            std::to_string(chunk) + "," + std::to_string(mb) + "," +
            std::to_string(chunk < 0 ? -1 : chunk * 2 + stage) + "\n";
  };
  row(0, "forward-compute", 0, 0, 0, 0);
  row(0, "forward-send", 10, 0, -1, -1);
  row(1, "forward-recv", 10, 0, -1, -1);
  row(1, "forward-compute", 20, 0, 0, 0);
  row(1, "forward-send", 30, 0, -1, -1);
  row(0, "forward-recv", 30, 0, -1, -1);
  row(0, "forward-compute", 40, 1, 1, 0);
  row(0, "forward-send", 50, 1, -1, -1);
  row(1, "forward-recv", 50, 1, -1, -1);
  row(1, "forward-compute", 60, 1, 1, 0);
  import("trace.csv", text);
  EXPECT_EQ(node(1, "forward-send").parts[0].peer, 0);
  EXPECT_EQ(node(1, "forward-send").c.chunk, 0);
  EXPECT_EQ(node(0, "forward-recv").parts[0].peer, 1);
  EXPECT_EQ(node(0, "forward-recv").c.chunk, 1);
  EXPECT_EQ(node(0, "forward-send", 1).c.chunk, 1);
}

TEST_F(Microbatch, TimesKeepEveryNanosecond) {
  std::string text = csv(small_job());
  text = replaced(text, "optimizer,0.001720,", "optimizer,0.001720000499999999,");
  text = replaced(text, "forward-compute,0.000110,", "forward-compute,1.10123e-04,");
  import("trace.csv", text);
  EXPECT_EQ(node(0, "optimizer").c.start_ns, 1'720'000);
  EXPECT_EQ(node(0, "forward-compute").c.start_ns, 110'123);
}

TEST_F(Microbatch, SaysWhatIsWrongInACsv) {
  const std::string good = csv(small_job());
  EXPECT_THAT(refusal("a.csv", ""), HasSubstr("a.csv: is empty"));
  EXPECT_THAT(refusal("a.csv", replaced(good, "duration", "length")),
              HasSubstr("a.csv:1: column 'duration' is missing"));
  EXPECT_THAT(refusal("a.csv", replaced(good, "0.000110", "soon")),
              HasSubstr("a.csv:3: start_ts is 'soon'; a time in seconds was expected"));
  EXPECT_THAT(refusal("a.csv", replaced(good, "0.000110", "NaN")), HasSubstr("a.csv:3: start_ts"));
  EXPECT_THAT(refusal("a.csv", replaced(good, "0.000110", "1e30")), HasSubstr("a.csv:3: start_ts"));
  EXPECT_THAT(refusal("a.csv", replaced(good, "0.000200", "-0.000200")),
              HasSubstr("a.csv:3: duration is '-0.000200'; a duration of at least 0 s"));
  EXPECT_THAT(refusal("a.csv", replaced(good, ",7,", ",99999999999999999999,")),
              HasSubstr("a.csv:2: step is"));
  EXPECT_THAT(refusal("a.csv", good + good.substr(good.find('\n') + 1, 60)), HasSubstr("a.csv:"));
  const std::string first = good.substr(good.find('\n') + 1);
  EXPECT_THAT(refusal("a.csv", good + first.substr(0, first.find('\n') + 1)),
              AllOf(HasSubstr("a.csv:50: params-all-gather number 0 of step 7 and rank 0 was told"),
                    HasSubstr("a.csv:2")));
  EXPECT_THAT(refusal("a.csv", kCsvHeader), HasSubstr("holds no operation"));
  EXPECT_THAT(refusal("a.txt", good), HasSubstr("was expected"));
  TraceRecord record;
  EXPECT_EQ(plugin_.import(folder_.file("missing.csv"), record), PRISM_STATUS_NOT_FOUND);
}

TEST_F(Microbatch, SaysWhatIsTooLarge) {
  const std::string good = csv(small_job());
  for (const char* large : {"1e30", "1e99999999999", "99999999999999999999"}) {
    EXPECT_THAT(refusal("a.csv", replaced(good, "0.000110", large)),
                HasSubstr("a.csv:3: start_ts is '" + std::string(large) + "', which is too large"));
    EXPECT_THAT(refusal("a.csv", replaced(good, ",7,", "," + std::string(large) + ",")),
                HasSubstr("a.csv:2: step is '" + std::string(large) + "', which is too large"));
    EXPECT_THAT(refusal("a.json", replaced(json(small_job()), "\"ts\": 110.0",
                                           "\"ts\": " + std::string(large))),
                HasSubstr("event 1: ts is " + std::string(large) + ", which is too large"));
  }
  EXPECT_THAT(refusal("a.csv", replaced(good, "0,0,0,7,", "0,0,2147483648,7,")),
              HasSubstr("rank is '2147483648', which is too large"));
  EXPECT_THAT(
      refusal("a.json", replaced(json(small_job()), "\"seq_id\": 0", "\"seq_id\": 2147483648")),
      HasSubstr("seq_id is 2147483648, which is too large"));
}

TEST_F(Microbatch, ANulInAFieldDoesNotCutTheMessage) {
  const std::string nul("a\0b", 3);
  const std::string good = csv(small_job());
  EXPECT_THAT(refusal("a.csv", replaced(good, "0.000110", nul)),
              HasSubstr("start_ts is 'a?b'; a time in seconds was expected"));
  EXPECT_THAT(refusal("a.csv", replaced(good, "forward-compute", nul)),
              HasSubstr("a.csv:3: 'a?b' is no kind of operation"));
}

TEST_F(Microbatch, AByteOrderMarkIsSkipped) {
  for (const auto& [name, text] :
       {std::pair("a.csv", csv(small_job())), std::pair("a.json", json(small_job()))}) {
    const std::string path = folder_.file(name, "\xef\xbb\xbf" + text);
    EXPECT_TRUE(plugin_.recognises(path));
    TraceRecord record;
    EXPECT_EQ(plugin_.import(path, record), PRISM_STATUS_OK) << plugin_.message();
    EXPECT_EQ(record.ranks.size(), 4U);
  }
}

TEST_F(Microbatch, ACutFileIsNoTrace) {
  const std::string whole_csv = csv(small_job());
  const std::string whole_json = json(small_job());
  for (int i = 1; i < 40; ++i) {
    const auto part = static_cast<size_t>(i);
    EXPECT_THAT(refusal("a.csv", whole_csv.substr(0, whole_csv.size() * part / 40)),
                HasSubstr("a.csv"));
    EXPECT_THAT(refusal("a.json", whole_json.substr(0, whole_json.size() * part / 40)),
                HasSubstr("a.json"));
  }
  EXPECT_THAT(refusal("a.json.gz", std::string("\x1f\x8b\x08\0\0\0\0\0\0\3abc", 13)),
              HasSubstr("a.json.gz: is cut or damaged"));
}

TEST_F(Microbatch, SaysWhatIsWrongInAJson) {
  const std::string good = json(small_job());
  EXPECT_THAT(refusal("a.json", replaced(good, "\"ts\": 110.0", "\"ts\": \"soon\"")),
              HasSubstr("a.json: event 1: ts is \"soon\"; a time in microseconds was expected"));
  EXPECT_THAT(refusal("a.json", replaced(good, "\"ts\": 110.0", "\"ts\": NaN")),
              HasSubstr("a.json: event 1:"));
  EXPECT_THAT(refusal("a.json", replaced(good, "\"ts\": 110.0", "\"t\": 1")),
              HasSubstr("a.json: event 1: has no 'ts'"));
  EXPECT_THAT(refusal("a.json", replaced(good, "\"dur\": 200", "\"dur\": -200")),
              HasSubstr("a.json: event 1: dur is negative"));
  EXPECT_THAT(refusal("a.json", replaced(good, "thread_name", "other_name")),
              HasSubstr("its thread has no name"));
  EXPECT_THAT(refusal("a.json", "{\"traceEvents\": 7}"), HasSubstr("a.json: event 0"));
  EXPECT_THAT(refusal("a.json", "[]"), HasSubstr("holds no operation"));
}

TEST_F(Microbatch, KnowsItsFiles) {
  EXPECT_TRUE(plugin_.recognises(folder_.file("trace.csv", csv(small_job()))));
  EXPECT_TRUE(plugin_.recognises(folder_.file("t.json", json(small_job()))));
  EXPECT_FALSE(plugin_.recognises(folder_.file("other.csv", "a,b\n")));
  EXPECT_FALSE(
      plugin_.recognises(folder_.file("other.json", "{\"traceEvents\": [{\"ph\": \"X\"}]}")));
}

}  // namespace
}  // namespace prism::formats_test
