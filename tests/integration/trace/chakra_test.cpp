// SPDX-License-Identifier: Apache-2.0
/// Real jobs, exported as Chakra traces and read again: the same graph and the same times.
#include <array>
#include <filesystem>
#include <gtest/gtest.h>
#include <string_view>
#include <unistd.h>

#include "core/plugin/registry.hpp"
#include "prism/abi/option.h"
#include "tests/integration/trace/imported.hpp"
#include "tests/real_data.hpp"

namespace prism::trace_test {
namespace {

using calibrate::Observation;
using graph::Node;
using graph::Program;

class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "prism-chakra-XXXXXX").string();
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    path_ = name;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

prism_option_value_t text_option(std::string_view value) {
  prism_option_value_t option{};
  option.type = PRISM_OPTION_STRING;
  option.set = 1;
  option.u.text = {value.data(), value.size()};
  return option;
}

/// What is the default: clock auto, no file of groups.
std::array<prism_option_value_t, 2> chakra_options() {
  std::array<prism_option_value_t, 2> options{text_option("auto"), {}};
  options[1].type = PRISM_OPTION_PATH;
  return options;
}

Status export_trace(const Calibrated& job, uint32_t iteration, const std::string& path) {
  plugin::Registry registry({.overrides = {}, .roots = {PRISM_PLUGIN_ROOT}});
  const auto options = chakra_options();
  PRISM_TRY_ASSIGN(const auto session, plugin::open_format(registry, "chakra", options));
  return session->export_trace(job.calibrated.trace.kinds.front().job,
                               job.replayed.front().recorded, iteration, path);
}

std::string text(const Program& program, uint32_t number) {
  return number == graph::kNone ? "" : program.texts[number];
}

void expect_same_labels(const Program& a, const Program& b, uint32_t id) {
  EXPECT_EQ(text(a, a.labels[id].name), text(b, b.labels[id].name));
  EXPECT_EQ(text(a, a.labels[id].phase), text(b, b.labels[id].phase));
  EXPECT_EQ(a.labels[id].micro_batch, b.labels[id].micro_batch);
  EXPECT_EQ(a.labels[id].chunk, b.labels[id].chunk);
  EXPECT_EQ(a.labels[id].layer, b.labels[id].layer);
}

void expect_same_node(const Program& a, const Program& b, uint32_t id) {
  const Node& one = a.nodes[id];
  const Node& other = b.nodes[id];
  EXPECT_EQ(one.kind, other.kind);
  EXPECT_EQ(one.dtype, other.dtype);
  EXPECT_EQ(one.reduction, other.reduction);
  EXPECT_EQ(one.lane, other.lane);
  EXPECT_EQ(one.communicator, other.communicator);
  EXPECT_EQ(one.sequence, other.sequence);
  EXPECT_EQ(one.root, other.root);
  EXPECT_EQ(one.input_bytes, other.input_bytes);
  EXPECT_EQ(one.output_bytes, other.output_bytes);
  ASSERT_EQ(one.part_count, other.part_count);
  for (uint32_t p = 0; p < one.part_count; ++p) {
    graph::Part part = a.parts[one.first_part + p];
    part.duration = b.parts[other.first_part + p].duration;
    EXPECT_EQ(part, b.parts[other.first_part + p]);
  }
  ASSERT_EQ(one.dependency_count, other.dependency_count);
  for (uint32_t d = 0; d < one.dependency_count; ++d) {
    EXPECT_EQ(a.dependencies[one.first_dependency + d], b.dependencies[other.first_dependency + d]);
  }
  expect_same_labels(a, b, id);
}

void expect_same(const Program& a, const Program& b) {
  SCOPED_TRACE("rank " + std::to_string(a.rank));
  EXPECT_EQ(a.lanes, b.lanes);
  EXPECT_EQ(a.communicators, b.communicators);
  ASSERT_EQ(a.nodes.size(), b.nodes.size());
  for (uint32_t id = 0; id < a.nodes.size() && !testing::Test::HasFailure(); ++id) {
    SCOPED_TRACE("node " + std::to_string(id));
    expect_same_node(a, b, id);
  }
}

void expect_same_times(const Calibrated& a, const Calibrated& b) {
  const graph::Job& job = a.calibrated.trace.kinds.front().job;
  for (Rank rank = 0; rank < job.world_size && !testing::Test::HasFailure(); ++rank) {
    const auto times = [&](const Calibrated& of) {
      const graph::IterationKind& kind = of.calibrated.trace.kinds.front();
      return graph::TimesOfRank(kind.job, kind.samples.front().times, rank);
    };
    const auto& one = a.replayed.front().recorded[rank].nodes;
    const auto& other = b.replayed.front().recorded[rank].nodes;
    ASSERT_EQ(one.size(), other.size());
    for (uint32_t id = 0; id < one.size() && !testing::Test::HasFailure(); ++id) {
      SCOPED_TRACE("rank " + std::to_string(rank) + ", node " + std::to_string(id));
      EXPECT_EQ(one[id].arrival, other[id].arrival);
      EXPECT_EQ(one[id].start, other[id].start);
      EXPECT_EQ(one[id].end, other[id].end);
      EXPECT_EQ(times(a).gap(id), times(b).gap(id));
      // An export tells when the last part of a batch ended, as of all.
      if (job.program(rank).nodes[id].kind != graph::Kind::Batch) {
        EXPECT_EQ(times(a).own_time(id), times(b).own_time(id));
      }
    }
  }
  EXPECT_EQ(a.replayed.front().end, b.replayed.front().end);
}

class ChakraRoundTrip : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* id : {"chakra", "kineto", "microbatch"}) {
      if (!has_plugin(id)) {
        GTEST_SKIP() << "the plugin " << id << " is not built";
      }
    }
  }

  /// Of the first iteration that the trace shows.
  void expect_round_trip(Result<Observation> observed) {
    ASSERT_TRUE(observed.ok()) << observed.status().to_string();
    calibrate::ensure_iterations(*observed);
    const calibrate::Iterations iterations(*observed);
    const uint32_t iteration = iterations.numbers().front();
    const auto job = calibrate_and_replay(iterations.cut(iteration), false);
    ASSERT_TRUE(job.ok()) << job.status().to_string();
    const Folder folder;
    const std::filesystem::path path = folder.path() / "out";
    const Status written = export_trace(*job, iteration, path.string());
    ASSERT_TRUE(written.ok()) << written.to_string();
    std::vector<plugin::TraceFile> files;
    for (Rank rank = 0; rank < observed->world_size; ++rank) {
      files.push_back({(path / ("trace." + std::to_string(rank) + ".et")).string(), std::nullopt});
    }
    const auto options = chakra_options();
    const Result<Observation> again = import_trace("chakra", files, options);
    ASSERT_TRUE(again.ok()) << again.status().to_string();
    EXPECT_TRUE(again->notes.empty());
    EXPECT_EQ(calibrate::Iterations(*again).numbers(), std::vector<uint32_t>{iteration});
    const auto back = calibrate_and_replay(*again, false);
    ASSERT_TRUE(back.ok()) << back.status().to_string();
    for (Rank rank = 0; rank < observed->world_size; ++rank) {
      expect_same(job->calibrated.trace.kinds.front().job.program(rank),
                  back->calibrated.trace.kinds.front().job.program(rank));
    }
    expect_same_times(*job, *back);
  }
};

TEST_F(ChakraRoundTrip, OfARecommendationJobOfKineto) {
  const auto archive = test::real_data("param-dlrm/dlrm_kineto.tar.gz");
  if (archive.empty()) {
    GTEST_SKIP() << test::kNoRealData;
  }
  const prism_option_value_t clock = text_option("shared");
  expect_round_trip(import_trace("kineto", {{archive.string(), std::nullopt}}, {&clock, 1}));
}

TEST_F(ChakraRoundTrip, OfAMegatronJobWithMessages) {
  std::vector<plugin::TraceFile> files;
  for (Rank rank = 0; rank < 8; ++rank) {
    const auto file = test::real_data("megatron-dense-w8/rank" + std::to_string(rank) + ".json.gz");
    if (file.empty()) {
      GTEST_SKIP() << test::kNoRealData;
    }
    files.push_back({file.string(), std::nullopt});
  }
  const prism_option_value_t clock = text_option("shared");
  expect_round_trip(import_trace("kineto", files, {&clock, 1}));
}

TEST_F(ChakraRoundTrip, OfAPipelineWithBatchesOfMessages) {
  const auto file = test::real_data("bytedance-ST/trace-ST.csv");
  if (file.empty()) {
    GTEST_SKIP() << test::kNoRealData;
  }
  expect_round_trip(import_trace("microbatch", {{file.string(), std::nullopt}}));
}

}  // namespace
}  // namespace prism::trace_test
