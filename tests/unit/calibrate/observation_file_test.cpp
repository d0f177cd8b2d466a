// SPDX-License-Identifier: Apache-2.0
#include "core/calibrate/observation_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/graph/trace_file.hpp"
#include "tests/trace_file/random_trace.hpp"
#include "tests/trace_file/reseal.hpp"
#include "tests/trace_file/temporary.hpp"

namespace prism::calibrate {
namespace {

using trace_file::dump;
using trace_file::random_observation;
using trace_file::TemporaryFolder;

TEST(ObservationFile, GivesBackWhatWasWritten) {
  const TemporaryFolder folder;
  const std::string path = folder.path("slice.prism");
  for (uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    const Observation observation = random_observation(seed);
    const Status written = write_observation(path, observation);
    ASSERT_TRUE(written.ok()) << written.to_string();
    const auto read = read_observation(path);
    ASSERT_TRUE(read.ok()) << read.status().to_string();
    ASSERT_EQ(dump(*read), dump(observation));
  }
}

TEST(ObservationFile, IsNoTrace) {
  const TemporaryFolder folder;
  const std::string path = folder.path("slice.prism");
  ASSERT_TRUE(write_observation(path, random_observation(1)).ok());
  EXPECT_EQ(*graph::content_of_file(path), graph::FileContent::Observation);
  const auto read = graph::read_trace(path);
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.status().message(), "'" + path + "' holds an observation, expected a trace");
}

/// Found by the fuzzer: spans are resolved by lane before the whole is checked.
TEST(ObservationFile, ANodeOnNoLaneIsRefused) {
  const TemporaryFolder folder;
  const std::string path = folder.path("slice.prism");
  std::string bytes = trace_file::bytes_of(
      PRISM_SOURCE_DIR "/tests/fuzz/corpus/trace_file/observation-unknown-lane.prism");
  trace_file::reseal(bytes);
  trace_file::put_bytes(path, bytes);
  const auto read = read_observation(path);
  ASSERT_FALSE(read.ok());
  EXPECT_THAT(std::string(read.status().message()), testing::HasSubstr(" is on lane "));
}

}  // namespace
}  // namespace prism::calibrate
