// SPDX-License-Identifier: Apache-2.0
/// Which node needs which, and an order in which each comes after what it needs.
///
/// Data dependencies are what must be over before. Control dependencies are the caller of an
/// operation: tools write operations without their callers, and callers that are called by, or
/// need, what they call. Such ones are left out and counted; all others hold.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plugins/formats/chakra/records.hpp"

namespace prism::chakra {

/// Nodes by their positions in RankTrace::nodes.
class Needs {
 public:
  /// Throws INVALID_ARGUMENT for an id that is given twice, a data dependency that is no node, and
  /// data dependencies that go in a circle.
  explicit Needs(const RankTrace& trace);

  std::span<const uint32_t> of(uint32_t node) const {
    return std::span(positions_).subspan(first_[node], first_[node + 1] - first_[node]);
  }
  bool is_needed(uint32_t node) const { return needed_[node]; }

  /// Among those whose needs have all come, the one with the least `rank_of` comes first, then the
  /// first of the file.
  std::vector<uint32_t> order(const std::vector<uint64_t>& rank_of) const {
    return sorted(Which::All, rank_of);
  }

  // Control dependencies that are left out.
  uint64_t without_caller() const { return without_caller_; }
  uint64_t against_order() const { return against_order_; }

 private:
  enum class Which : uint8_t { All, Data };
  /// A node and its position.
  struct Entry {
    uint64_t id;
    uint32_t position;
  };

  std::vector<Entry> sorted_ids() const;
  /// kNone: there is none.
  static uint32_t position_of(uint64_t id, const std::vector<Entry>& ids);
  void find_needs(const std::vector<Entry>& ids);
  bool counts(size_t need, Which which) const { return which == Which::All || !control_[need]; }
  /// Without those that are in a circle, or need such ones.
  std::vector<uint32_t> sorted(Which which, const std::vector<uint64_t>& rank_of) const;
  void leave_out_circles();
  void leave_out_against(const std::vector<uint32_t>& order);
  [[noreturn]] void fail_in_circle(const std::vector<uint32_t>& order) const;

  const RankTrace& trace_;
  std::vector<uint32_t> first_;  ///< by node: of what it needs in positions_
  std::vector<uint32_t> positions_;
  std::vector<bool> control_;  ///< by position in positions_
  std::vector<bool> needed_;
  uint64_t without_caller_ = 0;
  uint64_t against_order_ = 0;
};

}  // namespace prism::chakra
