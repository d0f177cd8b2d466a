// SPDX-License-Identifier: Apache-2.0
// A real job of 8 GPUs.
#include <algorithm>
#include <cstdint>
#include <fstream>
#include <gtest/gtest.h>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "prism/sdk/testing/fake_trace_reader.hpp"
#include "tests/plugins/formats/format_plugin.hpp"
#include "tests/real_data.hpp"

namespace prism::formats_test {
namespace {

namespace fs = std::filesystem;
using sdk::testing::TraceRecord;

fs::path data_folder() {
  return test::real_data("bytedance-ST");
}

class MicrobatchReal : public testing::Test {
 protected:
  void SetUp() override {
    if (data_folder().empty()) {
      GTEST_SKIP() << test::kNoRealData;
    }
    FormatPlugin plugin("microbatch");
    for (auto& [file, record] :
         {std::pair{"trace-ST.csv", &csv_}, std::pair{"timeline-ST.json.gz", &json_}}) {
      ASSERT_EQ(plugin.import((data_folder() / file).string(), *record), PRISM_STATUS_OK)
          << plugin.message();
    }
  }

  /// step_t_base of result-ST.json, by iteration.
  static std::vector<double> measured_seconds() {
    const std::string text = read_all((data_folder() / "result-ST.json").string());
    const size_t begin = text.find("\"step_t_base\"");
    const std::string base = text.substr(begin, text.find('}', begin) - begin);
    std::map<int, double> seconds;
    for (size_t at = base.find('"', base.find('{')); at != std::string::npos;
         at = base.find('"', base.find(':', at))) {
      seconds[std::stoi(base.substr(at + 1))] = std::stod(base.substr(base.find(':', at) + 1));
    }
    std::vector<double> result;
    for (const auto& [step, s] : seconds) {
      result.push_back(s);
    }
    return result;
  }

  static std::vector<double> spans(const TraceRecord& record) {
    std::map<int32_t, std::pair<int64_t, int64_t>> iterations;
    for (const TraceRecord::Rank& rank : record.ranks) {
      for (const TraceRecord::Node& node : rank.nodes) {
        const auto [at, fresh] =
            iterations.insert({node.c.iteration, {node.c.start_ns, node.c.end_ns}});
        at->second.first = std::min(at->second.first, node.c.start_ns);
        at->second.second = std::max(at->second.second, node.c.end_ns);
      }
    }
    std::vector<double> result;
    for (const auto& [iteration, span] : iterations) {
      result.push_back(static_cast<double>(span.second - span.first) * 1e-9);
    }
    return result;
  }

  TraceRecord csv_;
  TraceRecord json_;
};

TEST_F(MicrobatchReal, StepsLastAsLongAsMeasured) {
  const std::vector<double> measured = measured_seconds();
  const std::vector<double> from_csv = spans(csv_);
  const std::vector<double> from_json = spans(json_);
  ASSERT_EQ(measured.size(), 32U);
  ASSERT_EQ(from_csv.size(), 32U);
  ASSERT_EQ(from_json.size(), 32U);
  for (size_t i = 0; i < measured.size(); ++i) {
    EXPECT_NEAR(from_csv[i], measured[i], 1e-6) << "iteration " << i;
    // The JSON does not show what the first all-gather of a step waited.
    EXPECT_NEAR(from_json[i], measured[i], 350e-6) << "iteration " << i;
  }
}

TEST_F(MicrobatchReal, NothingIsLost) {
  for (const TraceRecord* record : {&csv_, &json_}) {
    ASSERT_EQ(record->ranks.size(), 8U);
    std::map<std::string, int> count;
    for (const TraceRecord::Rank& rank : record->ranks) {
      for (const TraceRecord::Node& node : rank.nodes) {
        if (node.parts.empty()) {
          ++count[node.name];
        }
        for (const prism_trace_part_t& part : node.parts) {
          ++count[part.kind == PRISM_COMM_SEND ? "send" : "recv"];
        }
      }
    }
    EXPECT_EQ(count["forward-compute"], 1024);
    EXPECT_EQ(count["backward-compute"], 1024);
    EXPECT_EQ(count["send"], 1536);
    EXPECT_EQ(count["recv"], 1536);
    EXPECT_EQ(count["params-all-gather"], 256);
    EXPECT_EQ(count["grads-reduce-scatter"], 256);
    EXPECT_EQ(count["embedding-grads-all-reduce"], 128);
    EXPECT_EQ(count["layernorm-grads-all-reduce"], 256);
    EXPECT_EQ(count["optimizer-clip-main-grad"], 256);
    EXPECT_EQ(count["optimizer"], 256);
    EXPECT_EQ(count["gc"], 256);
  }
}

TEST_F(MicrobatchReal, LanesDoNotOverlapAndDependenciesHold) {
  constexpr int64_t kNoise = 20'000;
  for (const TraceRecord* record : {&csv_, &json_}) {
    for (const TraceRecord::Rank& rank : record->ranks) {
      std::vector<int64_t> end(rank.lanes.size(), std::numeric_limits<int64_t>::min());
      size_t without = 0;
      for (const TraceRecord::Node& node : rank.nodes) {
        EXPECT_GE(node.c.start_ns, end[node.c.lane]) << node.name;
        end[node.c.lane] = node.c.end_ns;
        for (const uint32_t d : node.dependencies) {
          EXPECT_LE(rank.nodes[d].c.end_ns, node.c.start_ns + kNoise)
              << rank.nodes[d].name << " -> " << node.name;
        }
        without += node.dependencies.empty() && node.name != "gc" ? 1 : 0;
      }
      EXPECT_LT(without, rank.nodes.size() / 2);
    }
  }
}

TEST_F(MicrobatchReal, EverySendHasItsRecv) {
  // By pipeline, sender and receiver: spans in the order of each side.
  using Key = std::tuple<std::string, std::vector<uint32_t>, uint32_t, uint32_t>;
  std::map<Key, std::vector<std::pair<int64_t, int64_t>>> sends, recvs;
  for (const TraceRecord::Rank& rank : csv_.ranks) {
    for (const TraceRecord::Node& node : rank.nodes) {
      for (const prism_trace_part_t& part : node.parts) {
        const auto& group = rank.communicators.at(part.communicator);
        const uint32_t peer = group.ranks.at(static_cast<size_t>(part.peer));
        const bool send = part.kind == PRISM_COMM_SEND;
        auto& side = send ? sends : recvs;
        side[{group.description, group.ranks, send ? rank.rank : peer, send ? peer : rank.rank}]
            .push_back({part.start_ns, part.end_ns});
      }
    }
  }
  ASSERT_EQ(sends.size(), 12U);  // 3 pairs of stages, 2 directions, 2 pipelines
  for (const auto& [key, sent] : sends) {
    const auto& received = recvs[key];
    ASSERT_EQ(sent.size(), received.size());
    for (size_t n = 0; n < sent.size(); ++n) {
      EXPECT_NEAR(static_cast<double>(sent[n].second), static_cast<double>(received[n].second),
                  200'000);
    }
  }
}

TEST_F(MicrobatchReal, CollectivesHaveAllTheirMembers) {
  using Key = std::pair<std::string, std::vector<uint32_t>>;
  std::map<Key, std::map<uint32_t, std::vector<int64_t>>> ends;
  for (const TraceRecord::Rank& rank : csv_.ranks) {
    for (const TraceRecord::Node& node : rank.nodes) {
      if (node.c.communicator != PRISM_NO_INDEX) {
        const auto& group = rank.communicators.at(node.c.communicator);
        ends[{group.description, group.ranks}][rank.rank].push_back(node.c.end_ns);
      }
    }
  }
  ASSERT_EQ(ends.size(), 4U + 4U + 2U + 1U);
  for (const auto& [key, members] : ends) {
    EXPECT_EQ(members.size(), key.second.size());
    for (size_t n = 0; n < 32; ++n) {
      std::vector<int64_t> at;
      for (const auto& [rank, own] : members) {
        ASSERT_EQ(own.size(), 32U);
        at.push_back(own[n]);
      }
      const auto [first, last] = std::minmax_element(at.begin(), at.end());
      EXPECT_LT(*last - *first, 1'100'000) << key.first;
    }
  }
}

TEST_F(MicrobatchReal, WhatIsReadCanBeWritten) {
  const sdk::testing::FakeTraceReader reader(csv_.ranks);
  const Folder folder;
  for (const char* id : {"csv", "perfetto"}) {
    FormatPlugin plugin(id);
    ASSERT_EQ(plugin.export_to(folder.file(id), reader.c()), PRISM_STATUS_OK) << plugin.message();
  }
  size_t nodes = 0;
  for (const TraceRecord::Rank& rank : csv_.ranks) {
    nodes += rank.nodes.size();
  }
  const std::string csv = read_all(folder.file("csv"));
  EXPECT_EQ(static_cast<size_t>(std::count(csv.begin(), csv.end(), '\n')), nodes + 1);
  EXPECT_TRUE(read_all(folder.file("perfetto")).ends_with("\n]}\n"));
}

/// The nodes of each lane, and where each node stands: the order between lanes says nothing.
struct ByLane {
  explicit ByLane(const TraceRecord::Rank& rank) {
    for (const TraceRecord::Node& node : rank.nodes) {
      const std::string& lane = rank.lanes[node.c.lane].name;
      places.push_back({lane, lanes[lane].size()});
      lanes[lane].push_back(&node);
    }
  }
  std::set<std::pair<std::string, size_t>> dependencies(const TraceRecord::Node& node) const {
    std::set<std::pair<std::string, size_t>> result;
    for (const uint32_t d : node.dependencies) {
      result.insert(places[d]);
    }
    return result;
  }
  std::vector<std::pair<std::string, size_t>> places;
  std::map<std::string, std::vector<const TraceRecord::Node*>> lanes;
};

TEST_F(MicrobatchReal, CsvAndJsonGiveTheSameGraph) {
  ASSERT_EQ(csv_.ranks.size(), json_.ranks.size());
  std::map<std::string, int64_t> worst;  // difference of durations by operation, ns
  for (size_t r = 0; r < csv_.ranks.size(); ++r) {
    const ByLane a(csv_.ranks[r]);
    const ByLane b(json_.ranks[r]);
    EXPECT_EQ(csv_.ranks[r].communicators.size(), json_.ranks[r].communicators.size());
    ASSERT_EQ(a.lanes.size(), b.lanes.size());
    for (const auto& [lane, nodes] : a.lanes) {
      ASSERT_EQ(nodes.size(), b.lanes.at(lane).size());
      for (size_t n = 0; n < nodes.size(); ++n) {
        const TraceRecord::Node& x = *nodes[n];
        const TraceRecord::Node& y = *b.lanes.at(lane)[n];
        ASSERT_EQ(x.name, y.name) << "rank " << r << ", " << lane << " " << n;
        EXPECT_EQ(x.c.kind, y.c.kind);
        EXPECT_EQ(x.c.communicator, y.c.communicator);
        EXPECT_EQ(x.c.iteration, y.c.iteration);
        EXPECT_EQ(x.c.micro_batch, y.c.micro_batch);
        EXPECT_EQ(x.c.chunk, y.c.chunk);
        EXPECT_EQ(a.dependencies(x), b.dependencies(y)) << x.name;
        int64_t& difference = worst[x.name];
        difference = std::max(difference,
                              std::abs((x.c.end_ns - x.c.start_ns) - (y.c.end_ns - y.c.start_ns)));
      }
    }
  }
  // The JSON does not say when ranks arrived, which is estimated. Nothing is known of the first
  // all-gather of a step, nor of what a rank does after it before its first receive.
  const std::map<std::string, int64_t> known{{"forward-compute", 1},
                                             {"backward-compute", 1},
                                             {"optimizer", 1},
                                             {"params-all-gather", 350'000},
                                             {"forward-recv", 17'000'000}};
  for (const auto& [name, ns] : worst) {
    const auto bound = known.find(name);
    const int64_t most = bound == known.end() ? 100'000 : bound->second;
    EXPECT_LE(ns, most) << name;
    RecordProperty(name, std::to_string(ns));
  }
}

}  // namespace
}  // namespace prism::formats_test
