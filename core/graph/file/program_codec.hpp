// SPDX-License-Identifier: Apache-2.0
/// Programs and times as sections. A program is three: its structure, its communicators, its own
/// times; programs that share any of them share the section.
#pragma once

#include <numeric>
#include <string>
#include <vector>

#include "core/base/status.hpp"
#include "core/graph/file/decoder.hpp"
#include "core/graph/file/encoder.hpp"
#include "core/graph/program.hpp"
#include "core/graph/times.hpp"

namespace prism::graph::file {

/// What the file relies on: the parts and dependencies of nodes come in the order of the nodes and
/// leave nothing between them, labels and texts fit.
Status check_order(const Program& program);
/// Whether labels name texts that are there. `where` begins the message.
Status check_labels(const Program& program, const std::string& where);

/// Lanes, nodes, parts, dependencies, labels, texts, iterations. No times.
void encode_structure(Encoder& to, const Program& program);
void decode_structure(Decoder& from, Program& program);

/// Those that the rank is in, then the others.
void encode_communicators(Encoder& to, const Program& program);
void decode_communicators(Decoder& from, Program& program);

/// Durations, gaps and durations of parts of a program.
void encode_own_times(Encoder& to, const Program& program);
/// Sizes must be those of the program.
void decode_own_times(Decoder& from, Program& program);

/// Times that others differ little from, in numbers; a column of none helps nobody.
struct TimesReference {
  std::vector<uint64_t> durations;
  std::vector<uint64_t> gaps;
  std::vector<uint64_t> parts;
};
TimesReference reference_of(const RankTimes& times);

/// A section is decoded with the reference that it was encoded with. A column whose length is not
/// that of the reference is encoded without.
void encode_times(Encoder& to, const RankTimes& times, const TimesReference& reference);
void decode_times(Decoder& from, RankTimes& times, const TimesReference& reference);

/// The fields of communicators, of a program or of a job.
inline constexpr uint64_t kCommunicatorMemory = 160;
template <typename Archive, typename List>
void code_communicators(Archive& archive, List& list) {
  archive.list("communicators", list, kCommunicatorMemory);
  archive.texts(
      "names", list, [](auto& c) -> auto& { return c.name; });
  archive.texts(
      "descriptions", list, [](auto& c) -> auto& { return c.description; });
  archive.texts(
      "backends", list, [](auto& c) -> auto& { return c.backend; });
  archive.column(
      "n-th of its kind", list, [](auto& c) -> auto& { return c.nth; });
  archive.column(
      "creation", list, [](auto& c) -> auto& { return c.creation; });
  std::vector<uint64_t> sizes(list.size());
  if constexpr (!Archive::kReads) {
    for (size_t i = 0; i < list.size(); ++i) {
      sizes[i] = list[i].ranks.size();
    }
  }
  archive.values("sizes", sizes, {});
  // In memory 4 bytes each, and a set of them while a job is checked.
  const uint64_t members = std::accumulate(sizes.begin(), sizes.end(), uint64_t{0});
  std::vector<uint64_t> ranks(archive.count("members", members, 64));
  if constexpr (!Archive::kReads) {
    size_t next = 0;
    for (const auto& c : list) {
      for (const Rank rank : c.ranks) {
        ranks[next++] = rank;
      }
    }
  }
  archive.values("members", ranks, {});
  if constexpr (Archive::kReads) {
    size_t next = 0;
    for (size_t i = 0; i < list.size() && archive.ok(); ++i) {
      if (sizes[i] > ranks.size() - next) {
        archive.fail("communicators have more members than there are");
        return;
      }
      list[i].ranks.reserve(sizes[i]);
      for (uint64_t m = 0; m < sizes[i]; ++m) {
        if (ranks[next] >= kNone) {
          archive.fail("rank " + std::to_string(ranks[next]) + " of a communicator is too large");
          return;
        }
        list[i].ranks.push_back(static_cast<Rank>(ranks[next++]));
      }
    }
    if (archive.ok() && next != ranks.size()) {
      archive.fail("there are " + std::to_string(ranks.size()) +
                   " members of communicators, expected " + std::to_string(next));
    }
  }
}

}  // namespace prism::graph::file
