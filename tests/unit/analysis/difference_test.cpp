// SPDX-License-Identifier: Apache-2.0
#include "core/analysis/difference.hpp"

#include <algorithm>
#include <gtest/gtest.h>

#include "core/analysis/edit.hpp"
#include "tests/unit/analysis/pipeline_job.hpp"

namespace prism::analysis {
namespace {

using test::PipelineSpec;

const PipelineSpec kSpec{.stages = 2, .replicas = 2, .micro_batches = 2, .forward = {1000, 2000}};

const CallDeviation* find(const std::vector<CallDeviation>& rows, const std::string& name) {
  const auto place = std::find_if(rows.begin(), rows.end(),
                                  [&](const CallDeviation& row) { return row.name == name; });
  return place == rows.end() ? nullptr : &*place;
}

TEST(Difference, AJobIsLikeItself) {
  const graph::Job job = test::pipeline_job(kSpec);
  EXPECT_EQ(first_difference(job, test::pipeline_job(kSpec), "a", "b"), "");
}

TEST(Difference, TheFirstOneIsNamedWithBothPlaces) {
  const graph::Job job = test::pipeline_job(kSpec);
  const auto difference = [&](const graph::Job& other) {
    return first_difference(job, other, "a", "b");
  };
  PipelineSpec more = kSpec;
  more.micro_batches = 3;
  EXPECT_EQ(
      difference(test::pipeline_job(more)),
      "a: rank 0, lane cpu:0, node 4 (recv of 1024 bytes float32 from rank 2, tag 0, on 'pp') "
      "'backward-recv'\n"
      "b: rank 0, lane cpu:0, node 4 (compute) 'forward-compute'");
  more = kSpec;
  more.replicas = 3;
  EXPECT_EQ(difference(test::pipeline_job(more)), "a has 4 ranks, b has 6");

  graph::Job other = job;
  other.classes[3].program.parts[1].bytes = 77;
  EXPECT_NE(difference(other).find("a: rank 3, lane cpu:0, node 2 (recv of 1024 bytes"),
            std::string::npos);
  EXPECT_NE(difference(other).find("'forward-recv', with other messages\nb: rank 3"),
            std::string::npos);
  other = job;
  other.classes[1].program.nodes.back().input_bytes = 8;
  EXPECT_NE(difference(other).find("of another size or type"), std::string::npos);
  other = job;
  other.classes[1].program.texts.back() = "other";
  EXPECT_NE(difference(other).find("of another phase"), std::string::npos);
  other = job;
  other.classes[0].program.nodes[2].dependency_count = 1;
  other.classes[0].program.dependencies.push_back(0);
  EXPECT_NE(difference(other).find("depending on other nodes"), std::string::npos);
}

TEST(Difference, DeviationsAreBesideThoseOfReplicas) {
  const graph::Job job = test::pipeline_job(kSpec);
  const Subject subject(job);
  const analysis::Run a{&subject, 0, {0}, {}};
  analysis::Run b = a;
  ASSERT_TRUE(Edit::parse(Operation::Scale, "name=forward-compute factor=1.25")
                  ->apply(subject, 0, b.times)
                  .ok());
  analysis::Run noisy = a;
  ASSERT_TRUE(Edit::parse(Operation::Scale, "name=forward-compute replica=1 factor=1.5")
                  ->apply(subject, 0, noisy.times)
                  .ok());

  const Result<Deviations> same = between_traces({a}, {a});
  ASSERT_TRUE(same.ok());
  EXPECT_EQ(same->left_out, 0U);
  for (const CallDeviation& row : same->calls) {
    EXPECT_EQ(row.duration.high, 0) << row.name;
    EXPECT_EQ(row.start.high, 0) << row.name;
    EXPECT_EQ(row.change, 0) << row.name;
  }

  const Result<Deviations> traces = between_traces({a}, {b});
  ASSERT_TRUE(traces.ok());
  const CallDeviation* forward = find(traces->calls, "forward-compute");
  ASSERT_NE(forward, nullptr);
  EXPECT_EQ(forward->calls, 8U);
  EXPECT_EQ(forward->total, 2 * 2 * (1000 + 2000));
  EXPECT_DOUBLE_EQ(forward->change, 0.25);
  EXPECT_DOUBLE_EQ(forward->duration.median, 0.25);
  EXPECT_EQ(forward->natural_duration->high, 0);
  // The second forward of stage 1 begins at 3000, then at 3750; an iteration took 15000.
  EXPECT_DOUBLE_EQ(forward->start.high, 750.0 / 15000);

  const Result<Deviations> natural = between_traces({noisy}, {noisy});
  ASSERT_TRUE(natural.ok());
  // 1000 and 1500 around 1250.
  EXPECT_DOUBLE_EQ(find(natural->calls, "forward-compute")->natural_duration->median, 0.2);

  const Result<Deviations> replicas = between_replicas({noisy});
  ASSERT_TRUE(replicas.ok());
  EXPECT_DOUBLE_EQ(find(replicas->calls, "forward-compute")->duration.median, 0.2);
  EXPECT_EQ(find(replicas->calls, "backward-compute")->duration.median, 0);
  EXPECT_EQ(replicas->nodes, traces->nodes);
}

}  // namespace
}  // namespace prism::analysis
