// SPDX-License-Identifier: Apache-2.0
#include "plugins/formats/kineto/import.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "plugins/formats/kineto/archive.hpp"
#include "plugins/formats/kineto/emit.hpp"
#include "plugins/formats/kineto/notes.hpp"
#include "plugins/formats/kineto/queues.hpp"
#include "plugins/formats/kineto/read.hpp"
#include "plugins/formats/kineto/waits.hpp"

namespace prism::kineto {
namespace {

/// "gpu-a" of ".../gpu-a_71.1764432000.pt.trace.json": how PyTorch names files, host_process.time.
/// Empty: another name.
std::string host_of(const std::string& path) {
  const std::string file = path.substr(path.find_last_of('/') + 1);
  const std::string worker = file.substr(0, file.find(".pt.trace.json"));
  const size_t score = worker.find('_');
  if (worker.size() == file.size() || score == std::string::npos || score == 0) {
    return {};
  }
  const size_t end = worker.find_first_not_of("0123456789", score + 1);
  const bool process = end != score + 1 && (end == std::string::npos || worker[end] == '.');
  return process ? worker.substr(0, score) : std::string();
}

class Clocks {
 public:
  explicit Clocks(Clock clock) : clock_(clock) {}
  uint32_t of(const std::string& path) {
    const std::string host = clock_ == Clock::Auto ? host_of(path) : std::string();
    if (clock_ == Clock::Shared) {
      return 0;
    }
    if (host.empty()) {
      return next_++;
    }
    const auto [known, fresh] = hosts_.try_emplace(host, next_);
    next_ += fresh ? 1 : 0;
    return known->second;
  }

 private:
  const Clock clock_;
  uint32_t next_ = 0;
  std::map<std::string, uint32_t> hosts_;
};

uint32_t rank_of(const sdk::TraceInput& input, const std::string& entry, const RankTrace& trace) {
  if (!input.rank && !trace.rank) {
    throw sdk::Error(PRISM_STATUS_INVALID_ARGUMENT,
                     shown(input.path, entry) +
                         " does not say of which rank it is (it has no distributedInfo with a "
                         "rank): name each file as RANK=FILE");
  }
  return input.rank ? *input.rank : *trace.rank;
}

class Import {
 public:
  Import(std::span<const sdk::TraceInput> inputs, Clock clock, sdk::TraceSink& sink)
      : inputs_(inputs), clocks_(clock), sink_(sink) {}

  void run() {
    for (const sdk::TraceInput& input : inputs_) {
      import_input(input);
    }
    tell(counts_, sink_);
    if (renamed_ > 0) {
      sink_.note(std::to_string(renamed_) +
                 " files say that they are of another rank than was given: taken as given");
    }
  }

 private:
  void import_input(const sdk::TraceInput& input) {
    uint64_t count = 0;
    for_each_trace(input.path, [&](const std::string& entry, Source& source) {
      if (++count == 2 && input.rank) {
        throw sdk::Error(PRISM_STATUS_INVALID_ARGUMENT,
                         "the archive '" + input.path + "' has several traces, but rank " +
                             std::to_string(*input.rank) +
                             " was given for it: unpack it and name each file as RANK=FILE");
      }
      import_trace(input, entry, source);
    });
  }

  void import_trace(const sdk::TraceInput& input, const std::string& entry, Source& source) {
    RankTrace trace = read_trace(input.path, entry, source);
    const std::string name = shown(input.path, entry);
    const uint32_t rank = rank_of(input, entry, trace);
    renamed_ += trace.rank && *trace.rank != rank ? 1 : 0;
    const auto [other, fresh] = names_.try_emplace(rank, name);
    if (!fresh) {
      throw sdk::Error(PRISM_STATUS_INVALID_ARGUMENT,
                       other->second + " and " + name + " are both of rank " +
                           std::to_string(rank) + ": name each as RANK=FILE, with its own rank");
    }
    try {
      Timeline timeline = make_timeline(trace);
      const Operations operations = find_operations(timeline);
      std::vector<Edge> waits = find_waits(timeline);
      add_queue_waits(timeline, waits);
      const std::string& file = entry.empty() ? input.path : entry;
      sink_.begin_rank(rank, clocks_.of(file), entry.empty() ? file : input.path + ":" + file);
      emit(timeline, operations, waits, rank, given(rank), sink_);
    } catch (const sdk::Error& error) {
      throw sdk::Error(error.code(), name + ": " + error.what());
    }
    add(counts_, trace.counts);
  }

  /// The ranks that were given; of a file that was given none, its own alone.
  std::vector<uint32_t> given(uint32_t rank) const {
    std::vector<uint32_t> ranks;
    for (const sdk::TraceInput& input : inputs_) {
      if (!input.rank) {
        return {rank};
      }
      ranks.push_back(*input.rank);
    }
    std::sort(ranks.begin(), ranks.end());
    return ranks;
  }

  const std::span<const sdk::TraceInput> inputs_;
  Clocks clocks_;
  sdk::TraceSink& sink_;
  std::map<uint32_t, std::string> names_;
  Counts counts_;
  uint64_t renamed_ = 0;
};

}  // namespace

void import_traces(std::span<const sdk::TraceInput> inputs, Clock clock, sdk::TraceSink& sink) {
  Import(inputs, clock, sink).run();
}

}  // namespace prism::kineto
