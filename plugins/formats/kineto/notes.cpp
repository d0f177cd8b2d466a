// SPDX-License-Identifier: Apache-2.0
#include "plugins/formats/kineto/notes.hpp"

#include <string>

namespace prism::kineto {
namespace {

struct Row {
  uint64_t Counts::*count;
  std::string_view text;  ///< behind the count
};

constexpr Row kRows[] = {
    {&Counts::foreign_words,
     "times a word that JSON does not have (NaN, Infinity, N/A) in the arguments of events: read "
     "as "
     "not known"},
    {&Counts::negative_durations, "events have a duration below 0: taken as 0"},
    {&Counts::overlapping,
     "device entries begin before the one ahead of them in their stream has ended: moved to its "
     "end"},
    {&Counts::without_launch,
     "device entries have no call in the trace that launched them: they depend on no thread"},
    {&Counts::before_launch,
     "device entries run before the call that launched them: they do not depend on it"},
    {&Counts::contradicting,
     "waits between streams and threads contradict the times of the trace: left out"},
    {&Counts::unknown_group,
     "collectives name no process group: taken to be of all ranks, matched in the order in which "
     "they were launched"},
    {&Counts::unknown_operation,
     "kernels of NCCL do not say what they communicate with whom: taken as compute"},
    {&Counts::unknown_size, "communications do not say their size: taken as 0 bytes"},
    {&Counts::unmatched_syncs,
     "synchronizations do not say what they wait for, and nothing ended during them: they depend "
     "on no stream"},
    {&Counts::queued,
     "device entries stood ready, and no call says what for: they depend on the entry of another "
     "stream that ended just before they began"},
    {&Counts::gloo, "operations of gloo: left out, only NCCL is imported"},
};

}  // namespace

void add(Counts& to, const Counts& counts) {
  for (const Row& row : kRows) {
    to.*row.count += counts.*row.count;
  }
}

void tell(const Counts& counts, sdk::TraceSink& sink) {
  for (const Row& row : kRows) {
    if (counts.*row.count > 0) {
      sink.note(std::to_string(counts.*row.count) + " " + std::string(row.text));
    }
  }
}

}  // namespace prism::kineto
