// SPDX-License-Identifier: Apache-2.0
/// Files of random contents, and what Prism reads of them, for the comparison with another reader.
///   prism_file write-trace SEED FILE plain|compressed     with an append, for some seeds
///   prism_file write-observation SEED FILE plain|compressed
///   prism_file read FILE                                   all of it as JSON
#include <cstdio>
#include <cstdlib>
#include <string>

#include "core/calibrate/observation_file.hpp"
#include "core/graph/trace_file.hpp"
#include "tests/trace_file/random_trace.hpp"

namespace {

using namespace prism;

Status write_random_trace(uint64_t seed, const std::string& path, graph::Storage storage) {
  const graph::Trace trace = trace_file::random_trace(seed);
  PRISM_TRY(graph::write_trace(path, trace, storage));
  return seed % 2 != 0 ? Status()
                       : graph::append_samples(
                             path, 0, {trace_file::random_sample(trace.kinds[0].job, seed)});
}

Status print(const std::string& path) {
  PRISM_TRY_ASSIGN(const graph::FileContent content, graph::content_of_file(path));
  std::string text;
  if (content == graph::FileContent::Observation) {
    PRISM_TRY_ASSIGN(const auto observation, calibrate::read_observation(path));
    text = trace_file::dump(observation);
  } else {
    PRISM_TRY_ASSIGN(const auto trace, graph::read_trace(path));
    text = trace_file::dump(trace);
  }
  std::puts(text.c_str());
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 2 ? argv[1] : "";
  const uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 0;
  const graph::Storage storage = argc == 5 && std::string(argv[4]) == "plain"
                                     ? graph::Storage::Plain
                                     : graph::Storage::Compressed;
  Status status = run_error("which file?");
  if (what == "read") {
    status = print(argv[2]);
  } else if (what == "write-trace" && argc == 5) {
    status = write_random_trace(seed, argv[3], storage);
  } else if (what == "write-observation" && argc == 5) {
    status = calibrate::write_observation(argv[3], trace_file::random_observation(seed), storage);
  }
  if (!status.ok()) {
    std::fprintf(stderr, "%s\n", status.to_string().c_str());
  }
  return status.ok() ? 0 : 1;
}
