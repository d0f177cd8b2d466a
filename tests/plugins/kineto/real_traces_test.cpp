// SPDX-License-Identifier: Apache-2.0
// Traces of real jobs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <set>

#include "tests/plugins/kineto/trace_text.hpp"
#include "tests/real_data.hpp"

namespace prism::kineto::testing {
namespace {

namespace fs = std::filesystem;

/// The files of a folder of the real data, as inputs; empty: not there.
std::vector<sdk::TraceInput> traces(const std::string& name) {
  const fs::path folder = test::real_data(name);
  std::vector<sdk::TraceInput> inputs;
  if (!folder.empty()) {
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
      const std::string file = entry.path().filename().string();
      if (file.find(".json") != std::string::npos || file.ends_with(".tar.gz")) {
        inputs.push_back({entry.path().string(), std::nullopt});
      }
    }
  }
  std::sort(inputs.begin(), inputs.end(),
            [](const auto& a, const auto& b) { return a.path < b.path; });
  return inputs;
}

void expect_sound(const Rank& rank) {
  std::map<uint32_t, int64_t> end;  // by lane
  for (const Node& node : rank.nodes) {
    ASSERT_GE(node.c.start_ns, end.try_emplace(node.c.lane, INT64_MIN).first->second) << node.name;
    end[node.c.lane] = node.c.end_ns;
    for (const uint32_t dependency : node.dependencies) {
      ASSERT_LE(rank.nodes[dependency].c.end_ns, node.c.start_ns) << node.name;
    }
  }
}

std::string key_of(const Record::Communicator& communicator) {
  std::string key = communicator.description;
  for (const uint32_t rank : communicator.ranks) {
    key += " " + std::to_string(rank);
  }
  return key;
}

/// The collectives of each communicator, by rank, are the same; so are sends and receives of each
/// pair. Returns how many kernels of NCCL there are.
size_t expect_matched(const Record& record) {
  std::map<std::string, std::map<uint32_t, std::map<int64_t, std::string>>> collectives;
  std::map<std::pair<uint32_t, uint32_t>, std::string> sent;
  std::map<std::pair<uint32_t, uint32_t>, std::string> received;
  size_t kernels = 0;
  for (const Rank& rank : record.ranks) {
    for (const Node& node : rank.nodes) {
      if (!node.name.starts_with("nccl")) {
        continue;
      }
      ++kernels;
      EXPECT_NE(node.c.kind, PRISM_NODE_COMPUTE) << node.name;
      if (node.c.communicator != PRISM_NO_INDEX) {
        collectives[key_of(rank.communicators[node.c.communicator])][rank.rank][node.c.sequence] =
            std::to_string(node.c.kind) + " " + std::to_string(node.c.input_bytes) + " " +
            std::to_string(node.c.output_bytes);
      }
      for (const prism_trace_part_t& part : node.parts) {
        const uint32_t peer =
            rank.communicators[part.communicator].ranks.at(static_cast<size_t>(part.peer));
        std::string& to =
            part.kind == PRISM_COMM_SEND ? sent[{rank.rank, peer}] : received[{peer, rank.rank}];
        to += std::to_string(part.bytes) + " ";
      }
    }
  }
  for (const auto& [key, ranks] : collectives) {
    for (const auto& [rank, mine] : ranks) {
      EXPECT_EQ(mine, ranks.begin()->second) << key << ", rank " << rank;
    }
  }
  EXPECT_EQ(sent, received);
  return kernels;
}

/// What the device waited for that no dependency explains, in ns.
int64_t unexplained(const Rank& rank) {
  std::map<uint32_t, int64_t> end;
  int64_t sum = 0;
  for (const Node& node : rank.nodes) {
    int64_t ready = end.try_emplace(node.c.lane, node.c.start_ns).first->second;
    for (const uint32_t dependency : node.dependencies) {
      ready = std::max(ready, rank.nodes[dependency].c.end_ns);
    }
    sum += node.c.start_ns - ready;
    end[node.c.lane] = node.c.end_ns;
  }
  return sum;
}

TEST(KinetoRealTraces, EveryKernelOfNcclOfAMegatronJobIsMatched) {
  const std::vector<sdk::TraceInput> inputs = traces("megatron-dense-w8");
  if (inputs.empty()) {
    GTEST_SKIP() << test::kNoRealData;
  }
  Record record;
  import_into(record, inputs);
  ASSERT_EQ(record.ranks.size(), 8U);
  // One hardware queue for all streams: some kernels stood behind waits of others.
  EXPECT_THAT(record.notes, ::testing::ElementsAre(::testing::HasSubstr("stood ready")));
  for (const Rank& rank : record.ranks) {
    expect_sound(rank);
    const int64_t span = rank.nodes.back().c.end_ns - rank.nodes.front().c.start_ns;
    EXPECT_LT(unexplained(rank), span / 30) << rank.rank;  // latencies of launches
  }
  EXPECT_EQ(expect_matched(record), 2616U);
}

TEST(KinetoRealTraces, AnArchiveOfAnOldRecommendationJob) {
  const std::vector<sdk::TraceInput> inputs = traces("param-dlrm");
  if (inputs.empty()) {
    GTEST_SKIP() << test::kNoRealData;
  }
  Record record;
  import_into(record, inputs);
  ASSERT_EQ(record.ranks.size(), 8U);
  for (const Rank& rank : record.ranks) {
    expect_sound(rank);
  }
  EXPECT_EQ(expect_matched(record), 64U);
}

TEST(KinetoRealTraces, TwoOfManyRanks) {
  const std::vector<sdk::TraceInput> inputs = traces("hta-sampled");
  if (inputs.empty()) {
    GTEST_SKIP() << test::kNoRealData;
  }
  Record record;
  import_into(record, inputs);
  ASSERT_EQ(record.ranks.size(), 2U);
  for (const Rank& rank : record.ranks) {
    expect_sound(rank);
    EXPECT_EQ(rank.communicators.at(0).ranks.size(), 128U);
  }
  // Events were left out of these traces: their collectives do not match.
}

}  // namespace
}  // namespace prism::kineto::testing
