// SPDX-License-Identifier: Apache-2.0
#include "core/graph/times.hpp"

#include <algorithm>

#include "core/base/status.hpp"

namespace prism::graph {
namespace {

auto place_of(auto& longs, size_t index) {
  return std::lower_bound(longs.begin(), longs.end(), index,
                          [](const Column::Long& l, size_t i) { return l.first < i; });
}

}  // namespace

void Column::set(size_t index, DurationNs value) {
  PRISM_ASSERT(value >= 0 && index < values_.size());
  const bool was_long = values_[index] == kLong;
  if (!was_long && value < DurationNs{kLong}) {
    values_[index] = static_cast<uint32_t>(value);
    return;
  }
  const auto place = place_of(longs_, index);
  if (value >= DurationNs{kLong}) {
    values_[index] = kLong;
    if (was_long) {
      place->second = value;
    } else {
      longs_.insert(place, {static_cast<uint32_t>(index), value});
    }
  } else {
    values_[index] = static_cast<uint32_t>(value);
    longs_.erase(place);
  }
}

DurationNs Column::long_at(size_t index) const {
  return place_of(longs_, index)->second;
}

DurationNs TimesOfRank::own_time(uint32_t node) const {
  const Node& of = program_.nodes[node];
  if (!has_parts(of.kind)) {
    return duration(node);
  }
  DurationNs longest = 0;
  for (uint32_t p = of.first_part; p < of.first_part + of.part_count; ++p) {
    longest = std::max(longest, part(p));
  }
  return longest;
}

RankTimes columns_of(const Program& program, const RankTimes* own) {
  const TimesOfRank from(program, own);
  RankTimes to{Column(program.nodes.size()), Column(program.nodes.size()),
               Column(program.parts.size())};
  for (uint32_t node = 0; node < program.nodes.size(); ++node) {
    to.durations.set(node, has_parts(program.nodes[node].kind) ? 0 : from.duration(node));
    to.gaps.set(node, from.gap(node));
  }
  for (uint32_t part = 0; part < program.parts.size(); ++part) {
    to.parts.set(part, from.part(part));
  }
  return to;
}

}  // namespace prism::graph
