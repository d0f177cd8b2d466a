// SPDX-License-Identifier: Apache-2.0
#include "plugins/formats/kineto/records.hpp"

#include <string>

namespace prism::kineto {

std::string_view to_string(Phase phase) {
  switch (phase) {
    case Phase::Forward:
      return "forward";
    case Phase::Backward:
      return "backward";
    case Phase::Optimizer:
      return "optimizer";
    case Phase::None:
      break;
  }
  return "";
}

uint32_t RankTrace::lane(bool device, int64_t gpu, int64_t number) {
  const auto is = [&](const Lane& lane) {
    return lane.device == device && lane.gpu == gpu && lane.number == number;
  };
  if (last_lane_ != kNone && is(lanes[last_lane_])) {
    return last_lane_;
  }
  const auto [found, fresh] =
      lane_index_.try_emplace({device, gpu, number}, static_cast<uint32_t>(lanes.size()));
  if (fresh) {
    streams_ += device ? 1 : 0;
    if (lanes.size() == Record::kLanes || streams_ > Record::kStreams) {
      throw sdk::Error(PRISM_STATUS_INVALID_ARGUMENT,
                       "the trace has more than " + std::to_string(Record::kStreams) +
                           " streams or " + std::to_string(Record::kLanes - Record::kStreams) +
                           " threads, expected those of one rank");
    }
    lanes.push_back({device, number, gpu, false, 0});
  }
  last_lane_ = found->second;
  return last_lane_;
}

}  // namespace prism::kineto
