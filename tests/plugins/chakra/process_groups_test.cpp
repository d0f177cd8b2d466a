// SPDX-License-Identifier: Apache-2.0
// Which ranks a collective is of.
#include "plugins/formats/chakra/process_groups.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/plugins/chakra/trace_bytes.hpp"

namespace prism::chakra::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kOfPyTorch =
    R"(['[{"pg_name": "0", "pg_desc": "default_pg", "backend_config": "cuda:nccl", "ranks": [], )"
    R"("group_size": 2}, {"pg_name": "1", "pg_desc": "dp", "backend_config": "cpu:gloo", )"
    R"("ranks": [1, 0]}, {"pg_name": "2", "pg_desc": "other", "ranks": [1]}]'])";

NodeBytes groups(const std::string& values) {
  return NodeBytes(0, "## process_group:init ##", NodeType::Metadata).inputs(values);
}
NodeBytes in_group(uint64_t id, const std::string& group) {
  return collective(id, CollectiveType::AllReduce, 8).text(attribute::kGroup, group);
}

TEST(ChakraProcessGroups, AreThoseThatPyTorchTells) {
  const TraceBytes rank =
      TraceBytes().add(groups(kOfPyTorch)).add(in_group(1, "0")).add(in_group(2, "1"));
  const Imported trace({rank, rank});
  ASSERT_EQ(trace.error(), "");
  const auto& known = trace.rank().communicators;
  ASSERT_EQ(known.size(), 2U) << "rank 0 is not in group 2";
  EXPECT_EQ(known[0].description, "default_pg");
  EXPECT_EQ(known[0].backend, "nccl");
  EXPECT_THAT(known[0].ranks, ElementsAre(0, 1));
  EXPECT_EQ(known[1].name, "1");
  EXPECT_EQ(known[1].backend, "gloo");
  EXPECT_THAT(known[1].ranks, ElementsAre(1, 0));
  ASSERT_EQ(trace.rank().nodes.size(), 2U) << "what only tells is no node";
  EXPECT_EQ(trace.rank().nodes[0].c.communicator, 0U);
  EXPECT_EQ(trace.rank().nodes[1].c.communicator, 1U);
}

TEST(ChakraProcessGroups, AGroupWithoutRanksIsAskedFor) {
  const Imported trace({TraceBytes().add(in_group(7, "3"))});
  EXPECT_THAT(trace.error(),
              HasSubstr("node 7 is of the process group '3', whose ranks the trace does not tell; "
                        "give ASTRA-sim's file of groups ({\"3\": [0, 1, ...]}) with --option "
                        "groups=FILE"));
}

TEST(ChakraProcessGroups, AreThoseOfTheUsersFile) {
  const TemporaryFolder folder;
  const std::string file = folder.file("groups.json", R"({"3": [1, 0], "4": [1]})");
  const TraceBytes rank = TraceBytes().add(in_group(7, "3"));
  const Imported trace({rank, rank}, {Clock::Auto, file});
  ASSERT_EQ(trace.error(), "");
  EXPECT_THAT(trace.rank().communicators.at(0).ranks, ElementsAre(1, 0));
  const Imported stranger({TraceBytes().add(in_group(7, "4")), rank}, {Clock::Auto, file});
  EXPECT_THAT(stranger.error(), HasSubstr("the process group '4', which rank 0 is not in"));
}

TEST(ChakraProcessGroups, AFileThatIsNoneIsNamed) {
  const TemporaryFolder folder;
  const auto error_of = [&](const std::string& content) {
    return Imported({TraceBytes().add(computation(0))},
                    {Clock::Auto, folder.file("groups.json", content)})
        .error();
  };
  EXPECT_THAT(error_of("[]"), HasSubstr("groups.json: is no file of process groups"));
  EXPECT_THAT(error_of(R"({"1": [0, -1]})"), HasSubstr("group '1' is no list of ranks"));
  EXPECT_THAT(Imported({TraceBytes().add(computation(0))}, {Clock::Auto, "/no/file"}).error(),
              HasSubstr("/no/file: is no file of process groups"));
}

TEST(ChakraProcessGroups, AListThatCannotBeReadIsNoted) {
  std::vector<Group> read;
  EXPECT_TRUE(read_groups_of_input("['words']", read));
  EXPECT_FALSE(read_groups_of_input(R"(['[{"pg_name": "1", "ranks": [0, ']'])", read));
  EXPECT_FALSE(read_groups_of_input(R"([{"pg_name": 1, "ranks": [0]}])", read));
  EXPECT_TRUE(read.empty());
  const Imported trace({TraceBytes().add(groups("\"pg_name\"")).add(computation(1))});
  EXPECT_THAT(trace.notes(), Contains(HasSubstr("1 lists of process groups cannot be read")));
}

}  // namespace
}  // namespace prism::chakra::testing
