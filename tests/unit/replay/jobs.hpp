// SPDX-License-Identifier: Apache-2.0
/// Jobs in which every rank writes its own program, for tests.
#pragma once

#include <functional>
#include <gtest/gtest.h>
#include <utility>
#include <vector>

#include "core/replay/engine.hpp"
#include "tests/unit/graph/programs.hpp"

namespace prism::replay::test {

using graph::Kind;
using graph::kNone;
using graph::test::ranks_between;
using graph::test::Rig;
using Write = std::function<void(Rig&, uint32_t world)>;

inline graph::Job job_of(const std::vector<Write>& writes, const std::string& backend = "gloo") {
  const auto size = static_cast<uint32_t>(writes.size());
  std::vector<std::vector<Rank>> classes;
  std::vector<graph::Program> programs;
  for (Rank rank = 0; rank < size; ++rank) {
    Rig rig(rank, size);
    writes[rank](rig, rig.group("world", ranks_between(0, size - 1), backend));
    classes.push_back({rank});
    programs.push_back(rig.finish());
  }
  auto job = graph::instantiate(size, classes, std::move(programs));
  EXPECT_TRUE(job.ok()) << job.status().to_string();
  return job.ok() ? std::move(job).value() : graph::Job{};
}

inline ReplayResult must_replay(const graph::Job& job, ReplayOptions options = {}) {
  for (Rank rank = 0; rank < job.world_size; ++rank) {
    options.record.push_back(rank);
  }
  auto result = replay(job, options);
  EXPECT_TRUE(result.ok()) << result.status().to_string();
  return result.ok() ? std::move(result).value() : ReplayResult{};
}

}  // namespace prism::replay::test
