// SPDX-License-Identifier: Apache-2.0
#include "plugins/formats/chakra/lanes.hpp"

#include <algorithm>
#include <limits>

namespace prism::chakra {

Lanes::Family& Lanes::family(int32_t kind, const std::string& name) {
  const auto [entry, added] = families_.try_emplace(name);
  if (added) {
    entry->second.first = sink_.add_lane(kind, name);
    entry->second.lanes.insert({std::numeric_limits<int64_t>::min(), entry->second.first});
  }
  return entry->second;
}

Lanes::Place Lanes::at(int32_t kind, const std::string& name, int64_t start_ns, int64_t end_ns) {
  Family& own = family(kind, name);
  Place place{0, start_ns, end_ns, false};
  // The lane that became free last leaves the others to what overlaps more.
  auto free = own.lanes.upper_bound({start_ns + kTick, kMostLane});
  if (free == own.lanes.begin()) {
    place.lane = sink_.add_lane(kind, name + " " + std::to_string(own.lanes.size() + 1));
  } else {
    --free;
    place.start_ns = std::max(start_ns, free->first);
    place.end_ns = std::max(end_ns, place.start_ns);
    place.lane = free->second;
    own.lanes.erase(free);
  }
  place.further = place.lane != own.first;
  own.lanes.insert({place.end_ns, place.lane});
  return place;
}

Lanes::Place Lanes::from(int32_t kind, const std::string& name, int64_t earliest_ns,
                         int64_t duration_ns) {
  Family& own = family(kind, name);
  const Free free = *own.lanes.begin();
  const int64_t start_ns = std::max(earliest_ns, free.first);
  own.lanes.erase(own.lanes.begin());
  own.lanes.insert({start_ns + duration_ns, free.second});
  return {free.second, start_ns, start_ns + duration_ns, free.second != own.first};
}

}  // namespace prism::chakra
