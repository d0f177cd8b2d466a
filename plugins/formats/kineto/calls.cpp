// SPDX-License-Identifier: Apache-2.0
#include "plugins/formats/kineto/calls.hpp"

namespace prism::kineto {
namespace {

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace

std::optional<Kind> kind_of_call(std::string_view name) {
  if (contains(name, "Launch") || contains(name, "Memcpy") || contains(name, "Memset")) {
    return Kind::Launch;
  }
  if (contains(name, "Synchronize")) {
    return contains(name, "Stream")  ? Kind::StreamSync
           : contains(name, "Event") ? Kind::EventSync
                                     : Kind::DeviceSync;
  }
  if (contains(name, "StreamWaitEvent")) {
    return Kind::StreamWait;
  }
  return contains(name, "EventRecord") ? std::optional(Kind::EventRecord) : std::nullopt;
}

}  // namespace prism::kineto
