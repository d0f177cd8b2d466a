// SPDX-License-Identifier: Apache-2.0
#include "core/graph/file/format.hpp"

#include <xxhash.h>

#include "core/base/status.hpp"

namespace prism::graph::file {
namespace {

const char* name_of(SectionType type) {
  switch (type) {
    case SectionType::Contents:
      return "contents";
    case SectionType::Structure:
      return "structure";
    case SectionType::Communicators:
      return "communicators";
    case SectionType::OwnTimes:
      return "own times";
    case SectionType::Job:
      return "job";
    case SectionType::Groups:
      return "groups";
    case SectionType::Sample:
      return "sample";
    case SectionType::Reference:
      return "reference";
    case SectionType::Times:
      return "times";
    case SectionType::Observation:
      return "observation";
    case SectionType::Spans:
      return "spans";
    case SectionType::Padding:
      return "padding";
  }
  return "unknown";
}

}  // namespace

uint64_t checksum_of(std::string_view bytes) {
  const char* const begin = bytes.data();
  PRISM_ASSERT(begin != nullptr);
  return XXH64(begin, bytes.size(), 0);
}

std::string describe(const SectionKey& key) {
  return std::string(name_of(key.type)) + " (" + std::to_string(key.a) + ", " +
         std::to_string(key.b) + ", " + std::to_string(key.c) + ")";
}

}  // namespace prism::graph::file
