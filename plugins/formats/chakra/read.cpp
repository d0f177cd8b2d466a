// SPDX-License-Identifier: Apache-2.0
#include "plugins/formats/chakra/read.hpp"

#include "plugins/formats/chakra/message_file.hpp"
#include "plugins/formats/chakra/metadata.hpp"
#include "plugins/formats/chakra/node.hpp"
#include "prism/sdk/error.hpp"

namespace prism::chakra {
namespace {

void read_beginning(MessageFile& file, RankTrace& trace) {
  std::string_view message;
  if (!file.next(message)) {
    throw sdk::Error(PRISM_STATUS_DATA_LOSS,
                     file.path() + ": is empty; a Chakra trace begins with GlobalMetadata");
  }
  try {
    read_metadata(message, trace);
  } catch (const Malformed& error) {
    file.fail(
        PRISM_STATUS_DATA_LOSS,
        std::string("is no GlobalMetadata, with which a Chakra trace begins: ") + error.what());
  }
}

}  // namespace

RankTrace read_trace(const std::string& path) {
  MessageFile file(path);
  RankTrace trace;
  trace.path = path;
  read_beginning(file, trace);
  NodeReader nodes(trace);
  std::string_view message;
  while (file.next(message)) {
    try {
      nodes.read(message);
    } catch (const Malformed& error) {
      file.fail(PRISM_STATUS_DATA_LOSS,
                "is no sound node (id " + std::to_string(nodes.id()) + "): " + error.what());
    }
    if (trace.nodes.size() >= kNone || trace.dependencies.size() >= kNone) {
      file.fail(PRISM_STATUS_RESOURCE_EXHAUSTED,
                "is one too many: at most 2^32 - 2 nodes and dependencies can be read");
    }
  }
  if (trace.nodes.empty()) {
    throw sdk::Error(PRISM_STATUS_DATA_LOSS, path + ": has no nodes");
  }
  return trace;
}

bool begins_as_trace(const std::string& path) {
  try {
    MessageFile file(path);
    std::string_view message;
    if (!file.next(message) || message.empty()) {
      return false;
    }
    // A message that knows more fields than these could be of anything.
    Field field;
    for (std::string_view rest = message; take_field(rest, field);) {
      if (field.wire != Wire::Bytes || field.number > metadata_field::kAttribute) {
        return false;
      }
    }
    RankTrace trace;
    read_metadata(message, trace);
    return true;
  } catch (const sdk::Error&) {
    return false;
  } catch (const Malformed&) {
    return false;
  }
}

uint32_t Texts::number_of(std::string_view text) {
  const auto [entry, added] =
      numbers_.try_emplace(std::string(text), static_cast<uint32_t>(texts_.size()));
  if (added) {
    texts_.push_back(&entry->first);
  }
  return entry->second;
}

}  // namespace prism::chakra
