// SPDX-License-Identifier: Apache-2.0
#include "core/graph/file/sample_codec.hpp"

#include <algorithm>
#include <cstddef>

namespace prism::graph::file {
namespace {

constexpr uint64_t kSetMemory = sizeof(RankTimes);
/// Fewer sets of a class are stored as they are: a reference would cost what it saves.
constexpr size_t kFewestSets = 4;
/// A median of so many is near enough to that of all.
constexpr size_t kMostLookedAt = 15;

template <typename Archive, typename Head>
void code_sample_head(Archive& archive, Head& head) {
  archive.number("iteration", head.iteration);
  archive.number("repeat", head.repeat);
  archive.list("sets", head.reference_of, kSetMemory);
  archive.indices(
      "references of sets", head.reference_of, [](auto& r) -> auto& { return r; });
  archive.list("sets of ranks", head.set_of, 12);
  archive.indices(
      "sets of ranks", head.set_of, [](auto& set) -> auto& { return set; });
}

/// The sets of each class: of the class of the first rank that has the set.
std::vector<std::vector<uint32_t>> sets_by_class(const KindShape& kind, const Times& times) {
  std::vector<std::vector<uint32_t>> sets(kind.classes.size());
  std::vector<bool> seen(times.sets.size(), false);
  for (Rank rank = 0; rank < times.set_of.size(); ++rank) {
    const uint32_t set = times.set_of[rank];
    if (set != kNone && !seen[set]) {
      seen[set] = true;
      sets[kind.class_of[rank]].push_back(set);
    }
  }
  return sets;
}

/// Element by element the median of some of the columns that have elements.
Column median_of(const std::vector<const Column*>& columns) {
  if (columns.empty()) {
    return {};
  }
  Column median(columns.front()->size());
  std::vector<DurationNs> values(columns.size());
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  for (size_t i = 0; i < median.size(); ++i) {
    for (size_t c = 0; c < columns.size(); ++c) {
      values[c] = (*columns[c])[i];
    }
    std::nth_element(values.begin(), middle, values.end());
    median.set(i, *middle);
  }
  return median;
}

RankTimes median_of(const Times& times, const std::vector<uint32_t>& sets) {
  const size_t step = (sets.size() + kMostLookedAt - 1) / kMostLookedAt;
  const auto some = [&](Column RankTimes::*column) {
    std::vector<const Column*> columns;
    columns.reserve(kMostLookedAt);
    for (size_t i = 0; i < sets.size(); i += step) {
      const Column& its = times.sets[sets[i]].*column;
      if (!its.empty()) {
        columns.push_back(&its);
      }
    }
    return columns;
  };
  return {median_of(some(&RankTimes::durations)), median_of(some(&RankTimes::gaps)),
          median_of(some(&RankTimes::parts))};
}

}  // namespace

void decode_sample_head(Decoder& from, SampleHead& head) {
  code_sample_head(from, head);
}

Status write_sample(SectionWriter& to, uint32_t kind_number, uint32_t sample_number,
                    const KindShape& kind, const Sample& sample) {
  const Times& times = sample.times;
  const auto key = [&](SectionType type, uint32_t number) {
    return SectionKey{type, kind_number, sample_number, number};
  };
  SampleHead head{sample.iteration, sample.repeat, {}, times.set_of};
  head.reference_of.assign(times.sets.size(), kNone);
  std::vector<TimesReference> references;
  for (const std::vector<uint32_t>& sets : sets_by_class(kind, times)) {
    if (sets.size() < kFewestSets) {
      continue;
    }
    const RankTimes median = median_of(times, sets);
    Encoder content;
    encode_times(content, median, {});
    const auto number = static_cast<uint32_t>(references.size());
    PRISM_TRY(to.add(key(SectionType::Reference, number), content));
    references.push_back(reference_of(median));
    for (const uint32_t set : sets) {
      head.reference_of[set] = number;
    }
  }
  for (uint32_t set = 0; set < times.sets.size(); ++set) {
    const uint32_t number = head.reference_of[set];
    Encoder content;
    encode_times(content, times.sets[set], number == kNone ? TimesReference() : references[number]);
    PRISM_TRY(to.add(key(SectionType::Times, set), content));
  }
  Encoder content;
  code_sample_head(content, head);
  return to.add(key(SectionType::Sample, 0), content);
}

}  // namespace prism::graph::file
