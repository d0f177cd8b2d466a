// SPDX-License-Identifier: Apache-2.0
/// Lanes for nodes of a trace that has none: one for each thread, stream, process group and peer,
/// and more where their nodes overlap.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "prism/sdk/format.hpp"

namespace prism::chakra {

/// Times of the trace are whole microseconds: so much may be rounding.
inline constexpr int64_t kTick = 1000;

class Lanes {
 public:
  explicit Lanes(sdk::TraceSink& sink) : sink_(sink) {}

  struct Place {
    uint32_t lane = 0;
    int64_t start_ns = 0;
    int64_t end_ns = 0;
    bool further = false;  ///< on a lane for overlapping nodes
  };

  /// For a node that starts then, or up to a tick later.
  Place at(int32_t kind, const std::string& name, int64_t start_ns, int64_t end_ns);
  /// For a node that starts as soon as the lane is free, but not before `earliest_ns`.
  Place from(int32_t kind, const std::string& name, int64_t earliest_ns, int64_t duration_ns);

 private:
  using Free = std::pair<int64_t, uint32_t>;  ///< from when, lane
  static constexpr uint32_t kMostLane = 0xffffffff;
  struct Family {
    std::set<Free> lanes;
    uint32_t first = 0;
  };

  Family& family(int32_t kind, const std::string& name);

  sdk::TraceSink& sink_;
  std::map<std::string, Family> families_;
};

}  // namespace prism::chakra
