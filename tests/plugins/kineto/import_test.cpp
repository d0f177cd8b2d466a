// SPDX-License-Identifier: Apache-2.0
// Lanes, nodes, times, labels and ranks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/plugins/kineto/trace_text.hpp"

namespace prism::kineto::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

int64_t duration(const Node& node) {
  return node.c.end_ns - node.c.start_ns;
}

TEST(KinetoImport, WordsThatAreNoJsonAreToleratedInArguments) {
  Record record;
  import_into(record, {{input_path("words_that_are_no_json.r0.json"), std::nullopt},
                       {input_path("words_that_are_no_json.r1.json"), std::nullopt}});
  EXPECT_THAT(record.notes, ElementsAre(HasSubstr("48 times a word that JSON does not have")));
  ASSERT_EQ(record.ranks.size(), 2U);
  for (const Rank& rank : record.ranks) {
    int64_t gemm = 0;
    int64_t first = INT64_MAX;
    int64_t last = 0;
    for (const Node& node : rank.nodes) {
      if (node.c.iteration != 5) {
        continue;
      }
      first = std::min(first, node.c.start_ns);
      last = std::max(last, node.c.end_ns);
      gemm += node.name == "sm90_xmma_gemm_f32f32_tf32f32" ? duration(node) : 0;
      if (node.c.kind == PRISM_COMM_ALL_REDUCE) {
        EXPECT_EQ(duration(node), 470'000);
        EXPECT_EQ(node.c.input_bytes, 4'000'000U);
        EXPECT_EQ(node.c.dtype, PRISM_DTYPE_F32);
        EXPECT_EQ(node.c.reduction, PRISM_REDUCE_SUM);
      }
    }
    EXPECT_EQ(gemm, 600'000);
    EXPECT_EQ(last - first, 1'200'000);
    EXPECT_THAT(rank.communicators.at(0).ranks, ElementsAre(0, 1));
  }
}

TEST(KinetoImport, NanosecondsAreKept) {
  for (const char* name : {"nanoseconds_number.r0.json", "nanoseconds_string.r0.json"}) {
    Record record;
    import_into(record, {{input_path(name), std::nullopt}});
    const std::vector<Node>& nodes = record.ranks.at(0).nodes;
    ASSERT_EQ(nodes.size(), 40U);
    int64_t busy = 0;
    for (size_t i = 0; i < nodes.size(); ++i) {
      busy += duration(nodes[i]);
      EXPECT_TRUE(i == 0 || nodes[i].c.start_ns - nodes[i - 1].c.end_ns == 7);
    }
    EXPECT_EQ(busy, 40'040);
    EXPECT_EQ(nodes.back().c.end_ns - nodes.front().c.start_ns, 40'313);
  }
}

TEST(KinetoImport, RanksMustBeKnown) {
  const std::string a = input_path("gpu-a_71.pt.trace.json");
  const std::string b = input_path("gpu-b_71.pt.trace.json");
  EXPECT_THAT(error_of({{a, std::nullopt}, {b, std::nullopt}}),
              AllOf(HasSubstr("gpu-a_71"), HasSubstr("name each file as RANK=FILE")));
  EXPECT_THAT(error_of({{a, 0}, {b, 0}}),
              AllOf(HasSubstr("gpu-a_71"), HasSubstr("gpu-b_71"), HasSubstr("both of rank 0")));
  Record record;
  import_into(record, {{a, 0}, {b, 1}});
  EXPECT_THAT(
      record.notes,
      ElementsAre(HasSubstr("4 collectives name no process group: taken to be of all ranks"),
                  HasSubstr("4 communications do not say their size")));
  ASSERT_EQ(record.ranks.size(), 2U);
  EXPECT_NE(record.ranks[0].clock, record.ranks[1].clock);
  std::vector<int64_t> arrivals[2];
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_THAT(record.ranks[i].communicators.at(0).ranks, ElementsAre(0, 1));
    for (const Node& node : record.ranks[i].nodes) {
      if (node.c.kind == PRISM_COMM_ALL_REDUCE) {
        EXPECT_EQ(node.c.sequence, static_cast<int64_t>(arrivals[i].size()));
        arrivals[i].push_back(node.c.start_ns);
      }
    }
  }
  ASSERT_EQ(arrivals[0].size(), 2U);
  EXPECT_EQ(arrivals[1][0] - arrivals[0][0], 60'000);
  EXPECT_EQ(arrivals[1][1] - arrivals[0][1], 60'000);
}

TEST(KinetoImport, FilesOfOneHostShareAClock) {
  const TemporaryFile a(TraceText(R"("rank": 0)").text(), "node1_71.17.pt.trace.json");
  const TemporaryFile b(TraceText(R"("rank": 1)").text(), "node1_72.18.pt.trace.json.gz");
  const TemporaryFile c(TraceText(R"("rank": 2)").text(), "node2_71.19.pt.trace.json");
  const TemporaryFile d(TraceText(R"("rank": 3)").text(), "worker0_step_12.20.pt.trace.json");
  const auto clocks = [&](Clock clock) {
    Record record;
    import_into(record, {{a.path(), {}}, {b.path(), {}}, {c.path(), {}}, {d.path(), {}}}, clock);
    std::vector<uint32_t> result;
    for (const Rank& rank : record.ranks) {
      result.push_back(rank.clock);
    }
    return result;
  };
  EXPECT_THAT(clocks(Clock::Auto), ElementsAre(0, 0, 1, 2));
  EXPECT_THAT(clocks(Clock::Shared), ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(clocks(Clock::Own), ElementsAre(0, 1, 2, 3));
}

TEST(KinetoImport, AKernelDependsOnItsLaunchWhereverThatStandsInTheFile) {
  const Imported trace(TraceText()
                           .kernel(7, 130, 20, 2, "second")
                           .kernel(7, 110, 20, 1, "first")
                           .call("cudaLaunchKernel", 4, 115, 5, 2)
                           .call("cudaLaunchKernel", 4, 100, 5, 1));
  EXPECT_THAT(trace.notes(), IsEmpty());
  EXPECT_TRUE(trace.depends(trace.node("first"), trace.node("cudaLaunchKernel", 0)));
  EXPECT_TRUE(trace.depends(trace.node("second"), trace.node("cudaLaunchKernel", 1)));
  EXPECT_EQ(trace.lane(trace.node("first")), "stream:7");
  EXPECT_EQ(trace.lane(trace.node("cudaLaunchKernel")), "cpu:4");
  // The thread's own time between its calls.
  EXPECT_EQ(trace.node("cpu").c.start_ns, 105'000);
  EXPECT_EQ(trace.node("cpu").c.end_ns, 115'000);
}

TEST(KinetoImport, ALaunchIsOverWhenItsKernelBegins) {
  const Imported trace(TraceText()
                           .call("cudaLaunchKernel", 4, 100, 50, 1)
                           .kernel(7, 120, 5, 1)
                           .call("cudaLaunchKernel", 4, 160, 5, 2)
                           .kernel(7, 170, 5, 2));
  EXPECT_EQ(trace.node("cudaLaunchKernel").c.end_ns, 120'000);
  EXPECT_TRUE(trace.depends(trace.node("gemm"), trace.node("cudaLaunchKernel")));
  EXPECT_EQ(duration(trace.node("cpu")), 40'000);
}

TEST(KinetoImport, ACallWithinACallIsPartOfIt) {
  const Imported trace(TraceText()
                           .call("cudaLaunchKernel", 4, 100, 20, 1)
                           .call("cuLaunchKernel", 4, 105, 10, 1)
                           .kernel(7, 130, 5, 1));
  EXPECT_EQ(trace.rank().nodes.size(), 2U);
  EXPECT_TRUE(trace.depends(trace.node("gemm"), trace.node("cudaLaunchKernel")));
}

TEST(KinetoImport, OverlapsOnAStreamAreMovedAndCounted) {
  const Imported trace(TraceText()
                           .kernel(7, 0, 100, 1, "long")
                           .kernel(7, 50, 100, 2, "late")
                           .kernel(7, 60, 10, 3, "inside")
                           .kernel(7, 150, 0, 4, "nothing")
                           .kernel(7, 150, 10, 5, "last"));
  EXPECT_THAT(trace.notes(), ElementsAre(HasSubstr("2 device entries begin before the one ahead"),
                                         HasSubstr("5 device entries have no call")));
  int64_t end = 0;
  for (const Node& node : trace.rank().nodes) {
    EXPECT_GE(node.c.start_ns, end) << node.name;
    end = node.c.end_ns;
  }
  EXPECT_EQ(trace.node("late").c.start_ns, 100'000);
  EXPECT_EQ(trace.node("inside").c.start_ns, 150'000);
  EXPECT_EQ(duration(trace.node("inside")), 0);
}

TEST(KinetoImport, NegativeDurationsAndKernelsBeforeTheirLaunchAreCounted) {
  const Imported trace(TraceText().call("cudaLaunchKernel", 4, 100, -5, 1).kernel(7, 90, 5, 1));
  EXPECT_THAT(trace.notes(),
              ElementsAre(HasSubstr("1 events have a duration below 0"),
                          HasSubstr("1 device entries run before the call that launched them")));
  EXPECT_THAT(trace.node("gemm").dependencies, IsEmpty());
}

TEST(KinetoImport, BaseTimeIsAddedWhereverItStands) {
  std::string text = TraceText().kernel(7, 1, 1, 1).text();
  text.replace(text.rfind("]}"), 2, "], \"baseTimeNanoseconds\": 1790857026000000000}");
  const TemporaryFile file(text);
  Record record;
  import_into(record, {{file.path(), std::nullopt}});
  EXPECT_EQ(record.ranks.at(0).nodes.at(0).c.start_ns, 1790857026000001000);
}

TEST(KinetoImport, StepsAreIterations) {
  const Imported trace(TraceText()
                           .event("user_annotation", "ProfilerStep#3", 4, "100", "100")
                           .event("user_annotation", "ProfilerStep#4", 4, "200", "50")
                           .call("cudaLaunchKernel", 4, 120, 10, 1)
                           .kernel(7, 240, 60, 1)
                           .call("cudaLaunchKernel", 4, 220, 10, 2)
                           .kernel(7, 310, 5, 2, "other"));
  EXPECT_EQ(trace.node("gemm").c.iteration, 3);  // that of its launch
  EXPECT_EQ(trace.node("other").c.iteration, 4);
  int64_t own[2] = {};
  for (const Node& node : trace.rank().nodes) {
    if (trace.lane(node) == "cpu:4") {
      own[node.c.iteration - 3] += duration(node);
    }
  }
  EXPECT_EQ(own[0], 100'000);
  EXPECT_EQ(own[1], 50'000);
}

TEST(KinetoImport, PhasesComeFromAnnotationsAndAutogradsThread) {
  TraceText text;
  text.raw(R"({"ph": "s", "cat": "fwdbwd", "name": "fwdbwd", "id": 1, "tid": 4, "ts": 100})");
  text.call("cudaLaunchKernel", 4, 100, 10, 1).kernel(7, 120, 5, 1, "f");
  text.event("cpu_op", "autograd::engine::evaluate_function: MulBackward0", 5, "200", "50");
  text.call("cudaLaunchKernel", 5, 210, 10, 2).kernel(7, 230, 5, 2, "b");
  text.event("user_annotation", "Optimizer.step#AdamW.step", 4, "300", "100");
  text.call("cudaLaunchKernel", 4, 310, 10, 3).kernel(7, 330, 5, 3, "o");
  text.event("user_annotation", "micro_batch 7: forward", 4, "500", "100");
  text.call("cudaLaunchKernel", 4, 510, 10, 4).kernel(7, 530, 5, 4, "m");
  text.event("user_annotation", "Optimizer.zero_grad#AdamW.zero_grad", 4, "700", "100");
  text.call("cudaLaunchKernel", 4, 710, 10, 5).kernel(7, 730, 5, 5, "z");
  const Imported trace(text);
  EXPECT_EQ(trace.node("f").phase, "forward");
  EXPECT_EQ(trace.node("b").phase, "backward");
  EXPECT_EQ(trace.node("o").phase, "optimizer");
  EXPECT_EQ(trace.node("m").phase, "forward");
  EXPECT_EQ(trace.node("m").c.micro_batch, 7);
  EXPECT_EQ(trace.node("z").phase, "");
  EXPECT_EQ(trace.node("f").c.micro_batch, -1);
}

TEST(KinetoImport, StreamsOfOtherDevicesAndTextThreads) {
  TraceText text;
  text.event("kernel", "a", 7, "1", "1", R"("device": 0, "stream": 7)");
  text.event("kernel", "b", 7, "1", "1", R"("device": 1, "stream": 7)");
  text.raw(
      R"({"name": "c", "ts": "5", "dur": "1", "tid": "stream 9", "cat": "Kernel", "ph": "X"})");
  const Imported trace(text);
  EXPECT_EQ(trace.lane(trace.node("a")), "stream:7");
  EXPECT_EQ(trace.lane(trace.node("b")), "stream:1.7");
  EXPECT_EQ(trace.lane(trace.node("c")), "stream:9");
}

TEST(KinetoImport, AGivenRankGoesBeforeThatOfTheFile) {
  const TemporaryFile file(TraceText().kernel(7, 1, 1, 1).text());
  Record record;
  import_into(record, {{file.path(), 5}});
  EXPECT_EQ(record.ranks.at(0).rank, 5U);
  EXPECT_THAT(record.notes.back(), HasSubstr("1 files say that they are of another rank"));
}

}  // namespace
}  // namespace prism::kineto::testing
