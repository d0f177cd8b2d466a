// SPDX-License-Identifier: Apache-2.0
// Which communication a kernel of NCCL is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/plugins/kineto/trace_text.hpp"

namespace prism::kineto::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kSendRecv = "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)";

std::string group(const std::string& name, const std::string& ranks, int size) {
  return R"("Process Group Name": ")" + name + R"(", "Process Group Description": "d)" + name +
         R"(", "Process Group Ranks": ")" + ranks + R"(", "Group size": )" + std::to_string(size);
}

std::string operation(const std::string& name, int64_t elements, const std::string& rest) {
  return R"("Collective name": ")" + name + R"(", "dtype": "BFloat16", "In msg nelems": )" +
         std::to_string(elements) + R"(, "Out msg nelems": )" + std::to_string(elements) + ", " +
         rest;
}

/// `operations` before or around one launch of a kernel.
Imported one_kernel(const std::string& kernel, const std::vector<std::string>& operations,
                    bool around, const std::string& arguments = "") {
  TraceText text(R"("rank": 0, "world_size": 4)");
  int64_t at = 100;
  for (const std::string& each : operations) {
    text.event("cpu_op", "record_param_comms", 4, std::to_string(at), around ? "500" : "8", each);
    at += 10;
  }
  text.event("user_annotation", "nccl:coalesced", 4, std::to_string(at), "50");
  text.call("cudaLaunchKernel", 4, at + 10, 5, 9).kernel(24, at + 30, 40, 9, kernel, arguments);
  return Imported(text);
}

TEST(KinetoCollectives, ASendAmongTheOperationsOfAGroup) {
  const std::string pp = group("23", "[0, 2]", 2);
  const Imported trace =
      one_kernel(kSendRecv, {operation("send", 512, pp + R"(, "Dst Rank": 2)")}, false);
  const Node& node = trace.node(kSendRecv);
  EXPECT_EQ(node.c.kind, PRISM_COMM_SEND);
  ASSERT_EQ(node.parts.size(), 1U);
  EXPECT_EQ(node.parts[0].kind, PRISM_COMM_SEND);
  EXPECT_EQ(node.parts[0].peer, 1);
  EXPECT_EQ(node.parts[0].bytes, 1024U);
  EXPECT_EQ(node.parts[0].dtype, PRISM_DTYPE_BF16);
  EXPECT_EQ(node.parts[0].start_ns, node.c.start_ns);
  EXPECT_THAT(trace.rank().communicators.at(0).ranks, ElementsAre(0, 2));
  EXPECT_EQ(trace.rank().communicators.at(0).description, "d23");
}

TEST(KinetoCollectives, SeveralBecomeABatch) {
  const std::string pp = group("23", "[0, 2]", 2);
  const Imported trace = one_kernel(kSendRecv,
                                    {operation("send", 512, pp + R"(, "Dst Rank": 2)"),
                                     operation("recv", 256, pp + R"(, "Src Rank": 2)")},
                                    false);
  const Node& node = trace.node(kSendRecv);
  EXPECT_EQ(node.c.kind, PRISM_NODE_BATCH);
  ASSERT_EQ(node.parts.size(), 2U);
  EXPECT_EQ(node.parts[1].kind, PRISM_COMM_RECV);
  EXPECT_EQ(node.parts[1].bytes, 512U);
  EXPECT_EQ(node.parts[1].peer, 1);
}

TEST(KinetoCollectives, OfOlderTracesThePeerIsAPosition) {
  const Imported trace = one_kernel(
      kSendRecv, {operation("recv", 1, group("5", "[2, 0]", 2) + R"(, "Src Rank": 1)")}, true);
  EXPECT_EQ(trace.node(kSendRecv).parts.at(0).peer, 1);
}

TEST(KinetoCollectives, ACollectiveOfASendRecvKernel) {
  const Imported trace =
      one_kernel(kSendRecv, {operation("all_to_allv", 64, group("0", "[0, 1, 2, 3]", 4))}, true);
  EXPECT_EQ(trace.node(kSendRecv).c.kind, PRISM_COMM_ALL_TO_ALL);
  EXPECT_EQ(trace.node(kSendRecv).c.input_bytes, 128U);
}

TEST(KinetoCollectives, TheRootOfABroadcastIsTheArgumentRank) {
  const Imported trace =
      one_kernel("ncclDevKernel_Broadcast_RING_LL(x)",
                 {operation("broadcast", 8, group("0", "[0, 1]", 2) + R"(, "Rank": 1)")}, true);
  EXPECT_EQ(trace.node("ncclDevKernel_Broadcast_RING_LL(x)").c.kind, PRISM_COMM_BROADCAST);
  EXPECT_EQ(trace.node("ncclDevKernel_Broadcast_RING_LL(x)").c.root, 1);
}

TEST(KinetoCollectives, RanksOfALargeGroupFollowFromStartAndStride) {
  const Imported trace =
      one_kernel("ncclDevKernel_AllGather_RING_LL(x)", {}, false,
                 operation("_allgather_base", 8,
                           group("8", "[0, 2, 4, ...]", 40) +
                               R"(, "Global rank start": 0, "Global rank stride": 2)"));
  EXPECT_EQ(trace.rank().communicators.at(0).ranks.size(), 40U);
  EXPECT_EQ(trace.rank().communicators.at(0).ranks.back(), 78U);
}

TEST(KinetoCollectives, KernelsThatSayNothingAreCountedAsCompute) {
  const Imported trace = one_kernel(kSendRecv, {}, false);
  EXPECT_EQ(trace.node(kSendRecv).c.kind, PRISM_NODE_COMPUTE);
  EXPECT_THAT(trace.notes(), ElementsAre(HasSubstr("1 kernels of NCCL do not say")));
}

TEST(KinetoCollectives, OldTracesOnlyAnnotate) {
  TraceText text(R"("rank": 1, "world_size": 4)");
  text.event("user_annotation", "nccl:all_to_all", 4, "100", "50",
             R"("Input Dims": [[128, 48], []], "Input type": ["float", "Scalar"])");
  text.call("cudaLaunchKernel", 4, 110, 5, 9).kernel(24, 130, 40, 9, kSendRecv);
  const Imported trace(text);
  const Node& node = trace.node(kSendRecv);
  EXPECT_EQ(node.c.kind, PRISM_COMM_ALL_TO_ALL);
  EXPECT_EQ(node.c.input_bytes, 128U * 48 * 4);
  EXPECT_THAT(trace.rank().communicators.at(0).ranks, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(trace.notes(), ElementsAre(HasSubstr("1 collectives name no process group")));
}

TEST(KinetoCollectives, CountInTheOrderOfTheirLaunches) {
  constexpr const char* kName = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(x)";
  const std::string small = operation("allreduce", 1, group("0", "[0, 1]", 2));
  const std::string large = operation("allreduce", 9, group("0", "[0, 1]", 2));
  TraceText text;
  text.call("cudaLaunchKernel", 4, 100, 5, 1).kernel(24, 300, 10, 1, kName, large);
  text.call("cudaLaunchKernel", 4, 110, 5, 2).kernel(7, 200, 10, 2, kName, small);
  const Imported trace(text);
  EXPECT_EQ(trace.node(kName, 0).c.input_bytes, 2U);  // runs first, was launched second
  EXPECT_EQ(trace.node(kName, 0).c.sequence, 1);
  EXPECT_EQ(trace.node(kName, 1).c.sequence, 0);
}

TEST(KinetoCollectives, ANumberThatIsGivenIsTaken) {
  constexpr const char* kName = "ncclDevKernel_AllReduce_Max_bf16_RING_LL(x)";
  const Imported trace = one_kernel(
      kName, {}, false, operation("allreduce", 1, group("0", "[0, 1]", 2) + R"(, "Seq": 41)"));
  EXPECT_EQ(trace.node(kName).c.sequence, 41);
  EXPECT_EQ(trace.node(kName).c.reduction, PRISM_REDUCE_MAX);
}

TEST(KinetoCollectives, AGroupWithoutTheRankIsRefused) {
  TraceText text;
  text.kernel(24, 1, 1, 1, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)",
              operation("allreduce", 1, group("6", "[1, 2]", 2)));
  const TemporaryFile file(text.text());
  EXPECT_THAT(error_of({{file.path(), std::nullopt}}),
              HasSubstr("rank 0 communicates in the process group '6' (d6), which it is not in"));
}

TEST(KinetoCollectives, AFewBytesDoNotAskForMuchMemory) {
  TraceText text;
  for (int i = 0; i < 9; ++i) {
    text.kernel(24, i, 1, 1, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)",
                operation("allreduce", 1,
                          group(std::to_string(i), "", 1'000'000) +
                              R"(, "Global rank start": 0, "Global rank stride": 1)"));
  }
  const TemporaryFile file(text.text());
  EXPECT_THAT(error_of({{file.path(), std::nullopt}}), HasSubstr("more than 4194304 ranks"));
}

TEST(KinetoCollectives, ATraceWithoutAnyTellsHowManyRanksThereAre) {
  const Imported of_two(TraceText(R"("rank": 0, "world_size": 2)").kernel(7, 0, 5, 1));
  ASSERT_EQ(of_two.rank().communicators.size(), 1U);
  EXPECT_EQ(of_two.rank().communicators[0].ranks, (std::vector<uint32_t>{0, 1}));
  for (const char* info :
       {R"("rank": 0, "world_size": 1)", R"("rank": 0)", R"("rank": 5, "world_size": 2)"}) {
    EXPECT_TRUE(Imported(TraceText(info).kernel(7, 0, 5, 1)).rank().communicators.empty()) << info;
  }
}

}  // namespace
}  // namespace prism::kineto::testing
