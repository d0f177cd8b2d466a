// SPDX-License-Identifier: Apache-2.0
#include "plugins/formats/chakra/metadata.hpp"

#include <limits>

#include "plugins/formats/chakra/attribute.hpp"

namespace prism::chakra {
namespace {

constexpr int64_t kMostRank = std::numeric_limits<uint32_t>::max() - 1;

/// Lists of equal length, and one of all ranks, into lanes and communicators.
struct OwnLists {
  std::vector<int64_t> lane_kinds;
  std::vector<std::string> lane_names;
  std::vector<std::string> names;
  std::vector<std::string> descriptions;
  std::vector<std::string> backends;
  std::vector<int64_t> sizes;
  std::vector<int64_t> ranks;

  void read(const Attribute& attribute) {
    const std::string_view name = attribute.name();
    if (name == own::kLaneKinds) {
      lane_kinds = attribute.integers(PRISM_LANE_CPU, PRISM_LANE_COMM);
    } else if (name == own::kLaneNames) {
      lane_names = attribute.texts();
    } else if (name == own::kCommunicatorNames) {
      names = attribute.texts();
    } else if (name == own::kCommunicatorDescriptions) {
      descriptions = attribute.texts();
    } else if (name == own::kCommunicatorBackends) {
      backends = attribute.texts();
    } else if (name == own::kCommunicatorSizes) {
      sizes = attribute.integers(1, kMostRank);
    } else if (name == own::kCommunicatorRanks) {
      ranks = attribute.integers(0, kMostRank);
    }
  }

  void move_to(RankTrace& trace) {
    if (lane_kinds.size() != lane_names.size() || names.size() != sizes.size() ||
        descriptions.size() != sizes.size() || backends.size() != sizes.size()) {
      throw Malformed("its lists of lanes or communicators (prism....) differ in length");
    }
    trace.lanes.reserve(lane_kinds.size());
    for (size_t i = 0; i < lane_kinds.size(); ++i) {
      trace.lanes.push_back({static_cast<int32_t>(lane_kinds[i]), std::move(lane_names[i])});
    }
    trace.communicators.reserve(sizes.size());
    auto next = ranks.begin();
    for (size_t i = 0; i < sizes.size(); ++i) {
      if (sizes[i] > ranks.end() - next) {
        throw Malformed(
            "its attribute 'prism.communicator_ranks' has fewer ranks than "
            "'prism.communicator_sizes' says");
      }
      Group& group = trace.communicators.emplace_back();
      group.name = std::move(names[i]);
      group.description = std::move(descriptions[i]);
      group.backend = std::move(backends[i]);
      group.ranks.assign(next, next + sizes[i]);
      next += sizes[i];
    }
  }
};

}  // namespace

void read_metadata(std::string_view message, RankTrace& trace) {
  OwnLists lists;
  Field field;
  while (take_field(message, field)) {
    if (field.number == metadata_field::kVersion) {
      expect_wire(field, Wire::Bytes, "version");
    } else if (field.number == metadata_field::kAttribute) {
      expect_wire(field, Wire::Bytes, "attr");
      const Attribute attribute(field.bytes);
      if (attribute.name() == own::kVersion) {
        if (attribute.integer() != own::kRevision) {
          throw Malformed("it was written by another version of Prism (prism.version " +
                          std::to_string(attribute.integer()) + "; " +
                          std::to_string(own::kRevision) + " was expected)");
        }
        trace.is_own = true;
      }
      lists.read(attribute);
    }
  }
  lists.move_to(trace);
}

}  // namespace prism::chakra
