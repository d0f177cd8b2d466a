// SPDX-License-Identifier: Apache-2.0
/// The records of a rank in order of time, without overlaps on a stream, each device entry with the
/// call that launched it.
#pragma once

#include <vector>

#include "plugins/formats/kineto/records.hpp"

namespace prism::kineto {

/// Indices are those into trace.records from now on.
struct Timeline {
  RankTrace& trace;
  /// Of a device entry: its call. Of a call: the first entry that it launched. Else kNone.
  std::vector<uint32_t> link;

  const Record& operator[](uint32_t index) const { return trace.records[index]; }
  uint32_t size() const { return static_cast<uint32_t>(trace.records.size()); }
};

/// Sorts and corrects the records of `trace`, which it keeps a reference to; counts what it had to
/// correct.
Timeline make_timeline(RankTrace& trace);

/// `depends_on` must have ended before `record` starts (a device entry) or goes on (a
/// synchronization).
struct Edge {
  uint32_t record = kNone;
  uint32_t depends_on = kNone;
  auto operator<=>(const Edge&) const = default;
};

}  // namespace prism::kineto
