// SPDX-License-Identifier: Apache-2.0
#include "plugins/formats/chakra/import.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include "plugins/formats/chakra/counts.hpp"
#include "plugins/formats/chakra/foreign.hpp"
#include "plugins/formats/chakra/order.hpp"
#include "plugins/formats/chakra/own_trace.hpp"
#include "plugins/formats/chakra/process_groups.hpp"
#include "plugins/formats/chakra/read.hpp"
#include "prism/sdk/error.hpp"

namespace prism::chakra {
namespace {

constexpr std::string_view kSuffix = ".et";

struct RankFile {
  std::string path;
  uint32_t rank = 0;
};

/// 3 of ".../NAME.3.et".
std::optional<uint32_t> rank_in_name(std::string_view path) {
  if (!path.ends_with(kSuffix)) {
    return std::nullopt;
  }
  path.remove_suffix(kSuffix.size());
  const size_t dot = path.find_last_of("./");
  if (dot == path.npos || path[dot] != '.') {
    return std::nullopt;
  }
  path.remove_prefix(dot + 1);
  uint32_t rank = 0;
  const auto [end, error] = std::from_chars(path.data(), path.data() + path.size(), rank);
  const bool whole = error == std::errc() && end == path.data() + path.size();
  return whole ? std::optional(rank) : std::nullopt;
}

uint32_t rank_of(const sdk::TraceInput& input) {
  const std::optional<uint32_t> rank = input.rank ? input.rank : rank_in_name(input.path);
  if (!rank) {
    throw sdk::Error(PRISM_STATUS_INVALID_ARGUMENT,
                     input.path +
                         ": the name does not say of which rank the trace is; "
                         "NAME.RANK.et was expected, or give it as RANK=" +
                         input.path);
  }
  return *rank;
}

class Import {
 public:
  Import(std::span<const sdk::TraceInput> inputs, const ImportOptions& options,
         sdk::TraceSink& sink)
      : options_(options), sink_(sink) {
    files_.reserve(inputs.size());
    for (const sdk::TraceInput& input : inputs) {
      files_.push_back({input.path, rank_of(input)});
    }
    std::stable_sort(files_.begin(), files_.end(),
                     [](const RankFile& a, const RankFile& b) { return a.rank < b.rank; });
    job_.ranks.reserve(files_.size());
    for (const RankFile& file : files_) {
      if (job_.ranks.empty() || job_.ranks.back() != file.rank) {
        job_.ranks.push_back(file.rank);
      }
    }
    if (!options.groups.empty()) {
      job_.groups = read_group_file(options.groups);
    }
  }

  void run() {
    for (const RankFile& file : files_) {
      const RankTrace trace = read_trace(file.path);
      const Needs needs(trace);
      counts_.without_caller += needs.without_caller();
      counts_.against_order += needs.against_order();
      sink_.begin_rank(file.rank, clock_of(trace), file.path);
      if (trace.is_own) {
        tell_own(trace, needs, sink_);
      } else {
        tell_foreign(trace, needs, file.rank, job_, sink_, counts_);
      }
    }
    tell(counts_, sink_);
  }

 private:
  uint32_t clock_of(const RankTrace& trace) {
    constexpr uint32_t kShared = 0;
    const bool comparable =
        options_.clock == Clock::Shared ||
        (options_.clock == Clock::Auto && (trace.is_own || !has_start_times(trace)));
    return comparable ? kShared : ++own_clocks_;
  }

  const ImportOptions& options_;
  sdk::TraceSink& sink_;
  std::vector<RankFile> files_;  ///< by rank
  Job job_;
  Counts counts_;
  uint32_t own_clocks_ = 0;
};

}  // namespace

void import_traces(std::span<const sdk::TraceInput> inputs, const ImportOptions& options,
                   sdk::TraceSink& sink) {
  Import(inputs, options, sink).run();
}

}  // namespace prism::chakra
