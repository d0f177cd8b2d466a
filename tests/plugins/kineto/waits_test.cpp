// SPDX-License-Identifier: Apache-2.0
// What waits for what inside a rank.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/plugins/kineto/trace_text.hpp"

namespace prism::kineto::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kAllReduce = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)";
constexpr const char* kGroup =
    R"("Collective name": "allreduce", "In msg nelems": 4, "Out msg nelems": 4, "Group size": 2, )"
    R"("dtype": "Float", "Process Group Name": "0", "Process Group Ranks": "[0, 1]")";

TEST(KinetoWaits, ASynchronizationGoesOnWhenItsStreamIsDone) {
  const Imported trace(TraceText()
                           .call("cudaLaunchKernel", 4, 100, 10, 1)
                           .kernel(7, 120, 300, 1)
                           .call("cudaStreamSynchronize", 4, 150, 275, 2));
  const Node& sync = trace.node("cudaStreamSynchronize");
  EXPECT_TRUE(trace.depends(sync, trace.node("gemm")));
  EXPECT_EQ(sync.c.start_ns, 420'000);  // its waiting follows
  EXPECT_EQ(sync.c.end_ns, 425'000);
  EXPECT_EQ(trace.node("cpu").c.end_ns, 150'000);
  EXPECT_THAT(trace.notes(), IsEmpty());
}

TEST(KinetoWaits, ADeviceSynchronizationWaitsForAllStreams) {
  const Imported trace(TraceText()
                           .call("cudaLaunchKernel", 4, 100, 10, 1)
                           .kernel(7, 120, 10, 1, "short")
                           .call("cudaLaunchKernel", 4, 120, 10, 2)
                           .kernel(8, 140, 200, 2, "long")
                           .call("cudaDeviceSynchronize", 4, 150, 200, 3));
  const Node& sync = trace.node("cudaDeviceSynchronize");
  EXPECT_TRUE(trace.depends(sync, trace.node("short")));
  EXPECT_TRUE(trace.depends(sync, trace.node("long")));
}

TEST(KinetoWaits, AnEventSynchronizationWaitsForWhatEndedDuringIt) {
  const Imported trace(TraceText()
                           .call("cudaLaunchKernel", 4, 100, 10, 1)
                           .kernel(7, 120, 500, 1, "later")
                           .call("cudaLaunchKernel", 4, 120, 10, 2)
                           .kernel(8, 140, 60, 2, "awaited")
                           .call("cudaEventSynchronize", 4, 150, 55, 3)
                           .call("cudaEventSynchronize", 4, 300, 5, 4));
  EXPECT_TRUE(trace.depends(trace.node("cudaEventSynchronize"), trace.node("awaited")));
  EXPECT_FALSE(trace.depends(trace.node("cudaEventSynchronize"), trace.node("later")));
  EXPECT_THAT(trace.notes(), ElementsAre(HasSubstr("1 synchronizations do not say")));
}

TEST(KinetoWaits, ACopyThatBlocksReturnsWhenItIsDone) {
  const Imported trace(TraceText()
                           .call("cudaMemcpyAsync", 4, 100, 100, 1)
                           .device("gpu_memcpy", "Memcpy DtoH", 7, 120, 70, 1));
  EXPECT_EQ(trace.node("cudaMemcpyAsync").c.end_ns, 120'000);
  const Node& back = trace.node("cudaMemcpyAsync", 1);
  EXPECT_TRUE(trace.depends(back, trace.node("Memcpy DtoH")));
  EXPECT_EQ(back.c.start_ns, 190'000);
  EXPECT_EQ(back.c.end_ns, 200'000);
}

TEST(KinetoWaits, ACommunicationWaitsForTheStreamThatComputes) {
  const Imported trace(TraceText()
                           .call("cudaLaunchKernel", 4, 100, 10, 1)
                           .kernel(7, 120, 100, 1)
                           .event("cpu_op", "record_param_comms", 4, "120", "50", kGroup)
                           .call("cudaEventRecord", 4, 125, 2, 2)
                           .call("cudaStreamWaitEvent", 4, 130, 2, 3)
                           .call("cudaLaunchKernel", 4, 140, 10, 4)
                           .kernel(24, 230, 50, 4, kAllReduce, kGroup)
                           .call("cudaStreamWaitEvent", 4, 160, 2, 5)
                           .call("cudaLaunchKernel", 4, 300, 10, 6)
                           .kernel(7, 320, 10, 6, "independent"));
  EXPECT_TRUE(trace.depends(trace.node(kAllReduce), trace.node("gemm")));
  EXPECT_FALSE(trace.depends(trace.node("independent"), trace.node(kAllReduce)));
}

TEST(KinetoWaits, AComputationWaitsForTheGroupThatWasWaitedFor) {
  TraceText text;
  text.event("cpu_op", "record_param_comms", 4, "100", "30", kGroup)
      .call("cudaLaunchKernel", 4, 110, 10, 1)
      .kernel(24, 140, 50, 1, kAllReduce, kGroup)
      .event("cpu_op", "record_param_comms", 4, "150", "10",
             R"("Collective name": "wait", "Process Group Name": "0", "Group size": 1)")
      .call("cudaStreamWaitEvent", 4, 155, 2, 2)
      .call("cudaLaunchKernel", 4, 170, 10, 3)
      .kernel(7, 200, 10, 3);
  const Imported trace(text);
  EXPECT_TRUE(trace.depends(trace.node("gemm"), trace.node(kAllReduce)));
}

TEST(KinetoWaits, WhatTheTimesContradictIsLeftOut) {
  TraceText text;
  text.event("cpu_op", "record_param_comms", 4, "100", "30", kGroup)
      .call("cudaLaunchKernel", 4, 110, 10, 1)
      .kernel(24, 140, 100, 1, kAllReduce, kGroup)
      .event("cpu_op", "record_param_comms", 4, "150", "10",
             R"("Collective name": "wait", "Process Group Name": "0", "Group size": 1)")
      .call("cudaStreamWaitEvent", 4, 155, 2, 2)
      .call("cudaLaunchKernel", 4, 170, 10, 3)
      .kernel(7, 200, 10, 3);
  const Imported trace(text);
  EXPECT_FALSE(trace.depends(trace.node("gemm"), trace.node(kAllReduce)));
  EXPECT_THAT(trace.notes(), ElementsAre(HasSubstr("1 waits between streams")));
}

TEST(KinetoWaits, ATraceMaySayWhatIsWaitedFor) {
  TraceText text;
  text.call("cudaLaunchKernel", 4, 100, 10, 1).kernel(7, 120, 20, 1, "first");
  text.call("cudaEventRecord", 4, 115, 2, 2);
  text.call("cudaLaunchKernel", 4, 120, 10, 3).kernel(7, 145, 20, 3, "unrelated");
  text.call("cudaStreamWaitEvent", 4, 135, 2, 4);
  text.event("cuda_sync", "Stream Wait Event", 9, "135", "2",
             R"("correlation": 4, "device": 0, "stream": 9, "wait_on_stream": 7, )"
             R"("wait_on_cuda_event_record_corr_id": 2)");
  text.call("cudaLaunchKernel", 4, 140, 10, 5).kernel(9, 170, 20, 5, "second");
  text.call("cudaStreamSynchronize", 4, 200, 10, 6);
  text.event("cuda_sync", "Stream Sync", 9, "200", "10",
             R"("correlation": 6, "device": 0, "stream": 7)");
  const Imported trace(text);
  EXPECT_TRUE(trace.depends(trace.node("second"), trace.node("first")));
  EXPECT_FALSE(trace.depends(trace.node("second"), trace.node("unrelated")));
  EXPECT_TRUE(trace.depends(trace.node("cudaStreamSynchronize"), trace.node("unrelated")));
}

TEST(KinetoWaits, AnEntryBehindAnotherStreamsWaitInAQueue) {
  const Imported trace(TraceText()
                           .call("cudaLaunchKernel", 4, 100, 5, 1)
                           .kernel(8, 120, 500, 1, "before")
                           .call("cudaLaunchKernel", 4, 110, 5, 2)
                           .kernel(7, 625, 10, 2, "stood")
                           .call("cudaLaunchKernel", 4, 120, 5, 3)
                           .kernel(9, 200, 10, 3, "late"));
  EXPECT_TRUE(trace.depends(trace.node("stood"), trace.node("before")));
  EXPECT_EQ(trace.node("late").dependencies.size(), 1U);
  EXPECT_THAT(trace.notes(), ElementsAre(HasSubstr("1 device entries stood ready")));
}

TEST(KinetoWaits, BackwardIsHandedOverAndBack) {
  TraceText text;
  text.call("cudaLaunchKernel", 4, 100, 10, 1).kernel(7, 120, 5, 1, "f");
  text.event("cpu_op", "autograd::engine::evaluate_function: MulBackward0", 5, "150", "100");
  text.call("cudaLaunchKernel", 5, 160, 10, 2).kernel(7, 180, 5, 2, "b1");
  text.call("cudaLaunchKernel", 5, 200, 10, 3).kernel(7, 220, 5, 3, "b2");
  text.call("cudaMemsetAsync", 4, 260, 10, 4).device("gpu_memset", "o", 7, 280, 5, 4);
  const Imported trace(text);
  const Node* first = nullptr;  // of autograd's thread
  const Node* back = nullptr;   // of the other, behind
  for (const Node& node : trace.rank().nodes) {
    if (trace.lane(node) == "cpu:5" && first == nullptr) {
      first = &node;
    }
    if (trace.lane(node) == "cpu:4" && node.c.start_ns >= 200'000 && back == nullptr) {
      back = &node;
    }
  }
  ASSERT_NE(first, nullptr);
  ASSERT_NE(back, nullptr);
  EXPECT_TRUE(trace.depends(*first, trace.node("cudaLaunchKernel", 0)));
  EXPECT_EQ(first->c.start_ns, 110'000);
  EXPECT_TRUE(trace.depends(*back, trace.node("cudaLaunchKernel", 2)));
  EXPECT_EQ(back->c.start_ns, 210'000);
  EXPECT_EQ(back->c.end_ns, 260'000);
}

}  // namespace
}  // namespace prism::kineto::testing
