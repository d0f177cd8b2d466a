// SPDX-License-Identifier: Apache-2.0
#include "core/graph/trace_file.hpp"

#include <gtest/gtest.h>

#include "tests/trace_file/random_trace.hpp"
#include "tests/trace_file/temporary.hpp"

namespace prism::graph {
namespace {

using trace_file::dump;
using trace_file::random_sample;
using trace_file::random_trace;
using trace_file::TemporaryFolder;

Trace read(const std::string& path) {
  auto trace = read_trace(path);
  EXPECT_TRUE(trace.ok()) << trace.status().to_string();
  return trace.ok() ? std::move(trace).value() : Trace();
}

TEST(TraceFile, GivesBackWhatWasWritten) {
  const TemporaryFolder folder;
  const std::string path = folder.path("trace.prism");
  for (uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    const Trace trace = random_trace(seed);
    const Storage storage = seed % 2 == 0 ? Storage::Compressed : Storage::Plain;
    const Status written = write_trace(path, trace, storage);
    ASSERT_TRUE(written.ok()) << written.to_string();
    ASSERT_EQ(dump(read(path)), dump(trace));
  }
}

}  // namespace
}  // namespace prism::graph
