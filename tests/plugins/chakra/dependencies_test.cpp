// SPDX-License-Identifier: Apache-2.0
// Dependencies that are missing, go in circles, or go against each other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/plugins/chakra/trace_bytes.hpp"

namespace prism::chakra::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(ChakraDependencies, AMissingParentIsNamedWithItsNode) {
  const Imported trace({TraceBytes()
                            .add(computation(0))
                            .add(computation(9).data({0}))
                            .add(collective(439, CollectiveType::AllReduce, 4000000).data({438}))
                            .add(computation(440).data({439, 9}))});
  EXPECT_THAT(trace.error(), HasSubstr("trace.0.et: node 439 depends on node 438, which is not in "
                                       "the file"));
  EXPECT_EQ(trace.code(), PRISM_STATUS_INVALID_ARGUMENT);
}

TEST(ChakraDependencies, ACircleIsPrinted) {
  const Imported two({TraceBytes()
                          .add(computation(0))
                          .add(computation(1).data({0, 2}))
                          .add(computation(2).data({1}))
                          .add(computation(3).data({2}))});
  EXPECT_THAT(two.error(), HasSubstr("in a circle: 1 -> 2 -> 1"));
  const Imported own({TraceBytes().add(computation(5).data({5}))});
  EXPECT_THAT(own.error(), HasSubstr("in a circle: 5 -> 5"));
}

TEST(ChakraDependencies, ALongCircleIsCut) {
  TraceBytes trace;
  for (uint64_t id = 0; id < 1000; ++id) {
    trace.add(computation(id).data({(id + 1) % 1000}));
  }
  EXPECT_THAT(Imported({trace}).error(), HasSubstr("0 -> 1 -> 2 -> 3 -> 4 -> 5 -> 6 -> 7 -> 8 -> 9 "
                                                   "-> 10 -> 11 -> 12 -> 13 -> 14 -> 15 -> ... "
                                                   "(1000 nodes) -> 0"));
}

TEST(ChakraDependencies, AnIdThatIsGivenTwiceIsNamed) {
  const Imported trace({TraceBytes()
                            .add(computation(0))
                            .add(computation(1).data({0}))
                            .add(computation(1).data({1}))});
  EXPECT_THAT(trace.error(), HasSubstr("node id 1 is given twice, in message 3 and in message 4"));
}

TEST(ChakraDependencies, NodesMayComeInAnyOrderOfTheFile) {
  const Imported trace({TraceBytes()
                            .add(on_cpu(2, "last").data({1}))
                            .add(on_cpu(1, "middle").control(0))
                            .add(on_cpu(0, "first"))});
  ASSERT_EQ(trace.error(), "");
  EXPECT_EQ(trace.rank().nodes[0].name, "first");
  EXPECT_EQ(trace.rank().nodes[1].name, "middle");
  EXPECT_EQ(trace.rank().nodes[2].name, "last");
  EXPECT_THAT(trace.needs(trace.node("middle")), ElementsAre("first"));
  EXPECT_THAT(trace.needs(trace.node("last")), ElementsAre("middle"));
}

TEST(ChakraDependencies, ADependencyThatIsToldTwiceIsOne) {
  const Imported trace(
      {TraceBytes().add(on_cpu(0, "first")).add(on_cpu(1, "second").data({0, 0}).control(0))});
  EXPECT_THAT(trace.needs(trace.node("second")), ElementsAre("first"));
}

/// What converters of PyTorch's traces write.
TEST(ChakraDependencies, CallersThatAreMissingOrGoAgainstDataAreLeftOutWithNotes) {
  const Imported missing({TraceBytes().add(on_cpu(216).control(3)).add(on_cpu(217).control(217))});
  EXPECT_EQ(missing.error(), "");
  EXPECT_THAT(missing.notes(),
              ::testing::Contains(HasSubstr("2 control dependencies (ctrl_deps) are left out")));
  const Imported against({TraceBytes()
                              .add(on_cpu(1, "callee").control(2))
                              .add(on_cpu(2, "caller").data({1}))
                              .add(on_cpu(3, "other").control(2))});
  EXPECT_EQ(against.error(), "");
  EXPECT_THAT(against.needs(against.node("callee")), IsEmpty());
  EXPECT_THAT(against.needs(against.node("caller")), ElementsAre("callee"));
  EXPECT_THAT(against.needs(against.node("other")), ElementsAre("caller"));
  EXPECT_THAT(against.notes(), ::testing::Contains(HasSubstr("1 control dependencies")));
}

}  // namespace
}  // namespace prism::chakra::testing
