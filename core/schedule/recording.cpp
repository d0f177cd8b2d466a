// SPDX-License-Identifier: Apache-2.0
#include "core/schedule/recording.hpp"

#include "core/base/file.hpp"
#include "core/graph/describe.hpp"

namespace prism::schedule {
namespace {

constexpr uint64_t kMaxEventsFile = uint64_t{4} << 30;

}  // namespace

Result<Recording> read_recording(const std::string& path) {
  PRISM_TRY_ASSIGN(const std::string bytes, read_file(path, kMaxEventsFile));
  wire::Decoder decoder;
  decoder.feed(bytes.data(), bytes.size());
  Recording recording;
  while (auto frame = decoder.next()) {
    recording.events.push_back(std::move(frame->message));
  }
  if (!decoder.error().empty()) {
    return run_error("'" + path + "' is no events file: " + decoder.error(), Code::DataLoss);
  }
  if (recording.events.empty()) {
    return run_error("'" + path + "' holds no event", Code::DataLoss);
  }
  const auto* hello = std::get_if<wire::Hello>(&recording.events.front());
  if (hello == nullptr) {
    return run_error("'" + path + "' does not begin with the event of a rank's start",
                     Code::DataLoss);
  }
  recording.rank = hello->rank;
  recording.world_size = hello->world_size;
  recording.complete = std::holds_alternative<wire::Bye>(recording.events.back());
  return recording;
}

std::string describe_operation(const wire::Op& op, const std::vector<wire::Group>& groups) {
  std::string text = graph::to_string(static_cast<graph::Kind>(op.kind));
  const bool message = op.kind == PRISM_COMM_SEND || op.kind == PRISM_COMM_RECV;
  if (!message) {
    text += " #" + std::to_string(op.sequence);
  } else if (op.peer == wire::kAnySource) {
    text += " from any rank";
  } else {
    text += (op.kind == PRISM_COMM_SEND ? " to" : " from") + std::string(" group rank ") +
            std::to_string(op.peer) + ", tag " + std::to_string(op.tag);
  }
  for (const wire::Group& group : groups) {
    if (group.id == op.group) {
      const std::string& name = group.description.empty() ? group.name : group.description;
      text += " on '" + name + "' of " + std::to_string(group.ranks.size()) + " ranks";
    }
  }
  const uint64_t bytes = op.input_bytes > op.output_bytes ? op.input_bytes : op.output_bytes;
  return text + " (" + std::to_string(bytes) + " bytes " + graph::dtype_name(op.dtype) + ")";
}

}  // namespace prism::schedule
