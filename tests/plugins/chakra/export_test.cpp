// SPDX-License-Identifier: Apache-2.0
// What others read in what Prism writes.
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <map>

#include "plugins/formats/chakra/read.hpp"
#include "tests/plugins/chakra/exported.hpp"

namespace prism::chakra::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ChakraExport : public ::testing::Test {
 protected:
  const Node& node(size_t n) const { return trace_.nodes.at(n); }
  std::vector<uint64_t> needs(size_t n) const {
    const auto begin = trace_.dependencies.begin() + static_cast<long>(node(n).first_dependency);
    return {begin, begin + node(n).dependency_count};
  }
  const Communication& communication(size_t n) const {
    return trace_.communications.at(node(n).communication);
  }
  const std::string& group(size_t n) const { return trace_.texts[communication(n).group]; }

  const Exported exported_;
  const RankTrace trace_ = read_trace(exported_.path(0));
};

TEST_F(ChakraExport, ProcessGroupsAreToldByTheFirstNode) {
  EXPECT_EQ(node(0).id, 0U);
  EXPECT_EQ(node(0).type, NodeType::Metadata);
  std::ifstream file(exported_.path(0), std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  EXPECT_THAT(bytes, HasSubstr(R"(['[{"pg_name": "1", "ranks": [0, 1]}, )"
                               R"({"pg_name": "2", "ranks": [1, 0]}]'])"));
  std::ifstream groups(exported_.folder().path() + "/comm_group.json");
  const std::string json{std::istreambuf_iterator<char>(groups), {}};
  EXPECT_EQ(json, "{\n  \"1\": [0, 1],\n  \"2\": [1, 0]\n}\n");
}

TEST_F(ChakraExport, EveryNodeHasItsTypeAndTheDependenciesThatItsLaneMeans) {
  const std::vector<NodeType> types = {NodeType::Metadata,   NodeType::Compute, NodeType::Compute,
                                       NodeType::Collective, NodeType::Send,    NodeType::Send,
                                       NodeType::Recv,       NodeType::Compute, NodeType::Compute};
  ASSERT_EQ(trace_.nodes.size(), types.size());
  for (size_t n = 0; n < types.size(); ++n) {
    EXPECT_EQ(node(n).id, n);
    EXPECT_EQ(node(n).type, types[n]) << n;
  }
  EXPECT_THAT(needs(1), ElementsAre());
  EXPECT_THAT(needs(2), ElementsAre(1)) << "the lane";
  EXPECT_THAT(needs(3), ElementsAre(2, 1)) << "dependencies";
  EXPECT_THAT(needs(4), ElementsAre(3)) << "a dependency that is also before on the lane";
  EXPECT_THAT(needs(5), ElementsAre(1, 4)) << "a part: a dependency of its batch, and the lane";
  EXPECT_THAT(needs(6), ElementsAre(1, 4));
  EXPECT_THAT(needs(7), ElementsAre(5, 6)) << "a batch: its parts";
  EXPECT_THAT(needs(8), ElementsAre(7));
}

TEST_F(ChakraExport, TimesAreMicrosecondsRoundedDown) {
  EXPECT_EQ(node(2).start_us, 1U);
  EXPECT_EQ(node(2).duration_us, 1U);
  EXPECT_EQ(node(3).start_us, 4U) << "without its waiting";
  EXPECT_EQ(node(3).duration_us, 3U);
  EXPECT_EQ(node(7).start_us, 12U);
  EXPECT_EQ(node(7).duration_us, 0U);
}

TEST_F(ChakraExport, CommunicationsSayWhatSimulatorsAskFor) {
  EXPECT_TRUE(node(1).on_cpu);
  EXPECT_FALSE(node(8).on_cpu);
  EXPECT_FALSE(node(3).on_cpu);
  EXPECT_EQ(communication(3).type, static_cast<int64_t>(CollectiveType::Broadcast));
  EXPECT_EQ(communication(3).bytes, 4096) << "also of a rank that puts nothing in";
  EXPECT_EQ(group(3), "1");
  EXPECT_EQ(communication(4).source, 0);
  EXPECT_EQ(communication(4).destination, 1);
  EXPECT_EQ(communication(4).tag, 9);
  EXPECT_EQ(communication(4).bytes, 100'000);
  EXPECT_EQ(group(4), "2");
  EXPECT_EQ(communication(6).source, 1);
  EXPECT_EQ(communication(6).destination, 0);
}

TEST_F(ChakraExport, GroupsHaveTheSameNumberOnAllRanksWhateverTheirNames) {
  const RankTrace other = read_trace(exported_.path(1));
  EXPECT_EQ(other.texts[other.communications.at(other.nodes.at(3).communication).group], "1");
}

TEST_F(ChakraExport, WithoutTheAttributesOfPrismItIsATraceLikeOthers) {
  // Attributes whose name is another are none of Prism's.
  const TemporaryFolder folder;
  std::vector<sdk::TraceInput> inputs;
  for (const uint32_t rank : {0U, 1U}) {
    std::ifstream file(exported_.path(rank), std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(file), {}};
    for (size_t at = bytes.find("prism."); at != std::string::npos; at = bytes.find("prism.", at)) {
      bytes.replace(at, 6, "other.");
    }
    inputs.push_back({folder.file("x." + std::to_string(rank) + ".et", bytes), std::nullopt});
  }
  Record record;
  sdk::TraceSink sink(record.c());
  import_traces(inputs, {Clock::Shared, ""}, sink);
  EXPECT_THAT(record.notes, ElementsAre(HasSubstr("2 collectives have a root")));
  ASSERT_EQ(record.ranks.at(0).nodes.size(), 8U) << "the batch is its parts and what joins them";
  std::map<std::string, int> lanes;
  for (const RecordedNode& told : record.ranks[0].nodes) {
    ++lanes[record.ranks[0].lanes[told.c.lane].name];
  }
  EXPECT_EQ(lanes["cpu"], 2);
  EXPECT_EQ(lanes["comm:1"], 1);
  EXPECT_EQ(lanes["send:1"], 2);
  EXPECT_EQ(lanes["recv:1"], 1);
  EXPECT_EQ(lanes["stream"], 2);
}

}  // namespace
}  // namespace prism::chakra::testing
