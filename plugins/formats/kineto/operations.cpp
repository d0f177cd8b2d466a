// SPDX-License-Identifier: Apache-2.0
#include "plugins/formats/kineto/operations.hpp"

#include <algorithm>

namespace prism::kineto {
namespace {

bool has_group(const Communication& c) {
  return c.group != kNone;
}

/// NCCL's SendRecv kernels, whose names do not say what they do.
bool sends(int32_t kind) {
  return is_point_to_point(kind) || kind == PRISM_COMM_ALL_TO_ALL || kind == PRISM_COMM_GATHER ||
         kind == PRISM_COMM_SCATTER;
}

Communication merged(Communication kernel, const Communication& operation) {
  if (operation.kind != PRISM_NODE_COMPUTE &&
      (kernel.kind == PRISM_NODE_COMPUTE || has_group(operation))) {
    kernel.kind = operation.kind;
  }
  kernel.group = has_group(kernel) ? kernel.group : operation.group;
  if (kernel.input_bytes < 0 && kernel.output_bytes < 0) {
    kernel.dtype = operation.dtype == PRISM_DTYPE_OTHER ? kernel.dtype : operation.dtype;
    kernel.input_bytes = operation.input_bytes;
    kernel.output_bytes = operation.output_bytes;
  }
  kernel.rank = kernel.rank < 0 ? operation.rank : kernel.rank;
  kernel.peer = kernel.peer < 0 ? operation.peer : kernel.peer;
  kernel.sequence = kernel.sequence < 0 ? operation.sequence : kernel.sequence;
  return kernel;
}

/// What one thread is in the middle of.
class Thread {
 public:
  /// Spans that have ended by `now` are left. An operation that launched nothing itself leaves that
  /// to the end of its group.
  void advance(int64_t now, const Timeline& timeline) {
    while (!open_.empty() && timeline[open_.back().record].end() <= now) {
      const Open last = open_.back();
      open_.pop_back();
      const Communication& c = timeline.trace.communications[timeline[last.record].detail];
      if (!last.launched && has_group(c) && pending_.size() < kMostPending) {
        pending_.push_back(timeline[last.record].detail);
      }
    }
  }
  void begin(uint32_t record) { open_.push_back({record, false}); }

  /// The innermost operation around a launch: one that names its group, else any. Marks them all.
  uint32_t around(const Timeline& timeline) {
    uint32_t found = kNone;
    for (auto open = open_.rbegin(); open != open_.rend(); ++open) {
      open->launched = true;
      const uint32_t detail = timeline[open->record].detail;
      const Communication& c = timeline.trace.communications[detail];
      const bool better = found == kNone || !has_group(timeline.trace.communications[found]);
      if (c.kind != PRISM_NODE_COMPUTE && (found == kNone || (better && has_group(c)))) {
        found = detail;
      }
    }
    return found;
  }

  /// The operations of one group that a kernel of kind `kind` can have done. They are taken away.
  std::vector<uint32_t> take_pending(int32_t kind, const Timeline& timeline) {
    const CommunicationTable& table = timeline.trace.communications;
    std::vector<uint32_t> taken;
    std::vector<uint32_t> rest;
    for (const uint32_t detail : pending_) {
      const Communication& c = table[detail];
      const bool fits = kind == PRISM_NODE_COMPUTE ? sends(c.kind) : c.kind == kind;
      if (fits && (taken.empty() || table[taken.front()].group == c.group)) {
        taken.push_back(detail);
      } else {
        rest.push_back(detail);
      }
    }
    pending_.swap(rest);
    return taken;
  }
  void forget_pending() { pending_.clear(); }

 private:
  static constexpr size_t kMostPending = 1 << 16;
  struct Open {
    uint32_t record;
    bool launched;
  };
  std::vector<Open> open_;
  std::vector<uint32_t> pending_;
};

class Finder {
 public:
  explicit Finder(Timeline& timeline)
      : timeline_(timeline),
        threads_(timeline.trace.lanes.size()),
        next_(timeline.trace.groups.all().size() + 1),
        all_numbered_(next_.size(), true) {}

  Operations find() {
    for (uint32_t i = 0; i < timeline_.size(); ++i) {
      const Record& record = timeline_[i];
      if (record.kind() == Kind::Operation) {
        Thread& thread = threads_[record.lane()];
        thread.advance(record.start, timeline_);
        thread.begin(i);
      } else if (record.kind() == Kind::Launch) {
        launch(i);
      } else if (record.kind() == Kind::Communication && timeline_.link[i] == kNone) {
        number(i);
      }
    }
    use_given_numbers();
    return std::move(operations_);
  }

 private:
  void launch(uint32_t call) {
    const uint32_t kernel = timeline_.link[call];
    if (kernel == kNone || timeline_[kernel].kind() != Kind::Communication) {
      return;
    }
    Thread& thread = threads_[timeline_[call].lane()];
    thread.advance(timeline_[call].start, timeline_);
    resolve(kernel, thread);
    number(kernel);
  }

  void resolve(uint32_t kernel, Thread& thread) {
    CommunicationTable& table = timeline_.trace.communications;
    const Communication own = table[timeline_[kernel].detail];
    const uint32_t around = thread.around(timeline_);
    if (around != kNone && has_group(table[around])) {
      set(kernel, merged(own, table[around]));
      thread.forget_pending();
      return;
    }
    if (has_group(own) && own.kind != PRISM_NODE_COMPUTE) {
      set(kernel, own);
      return;
    }
    const std::vector<uint32_t> pending = thread.take_pending(own.kind, timeline_);
    if (!pending.empty()) {
      set_coalesced(kernel, own, pending);
    } else if (around != kNone) {
      set(kernel, merged(own, table[around]));
    }
  }

  void set(uint32_t kernel, const Communication& c) {
    const uint32_t detail = timeline_.trace.communications.index(c);
    timeline_.trace.records[kernel].detail = detail;
    if (is_point_to_point(c.kind)) {
      operations_.parts[kernel] = {detail};
    }
  }

  void set_coalesced(uint32_t kernel, const Communication& own,
                     const std::vector<uint32_t>& pending) {
    CommunicationTable& table = timeline_.trace.communications;
    Communication whole = merged(own, table[pending.front()]);
    if (!is_point_to_point(whole.kind)) {
      whole.input_bytes = 0;
      whole.output_bytes = 0;
      for (const uint32_t detail : pending) {
        add(whole.input_bytes, table[detail].input_bytes);
        add(whole.output_bytes, table[detail].output_bytes);
      }
    } else if (pending.size() > 1) {
      whole.kind = PRISM_NODE_BATCH;
      whole.peer = -1;
      whole.rank = -1;
    }
    timeline_.trace.records[kernel].detail = table.index(whole);
    if (is_point_to_point(whole.kind) || whole.kind == PRISM_NODE_BATCH) {
      operations_.parts[kernel] = pending;
    }
  }

  static void add(int64_t& to, int64_t bytes) {
    if (bytes < 0 || __builtin_add_overflow(to, bytes, &to)) {
      to = -1;
    }
  }

  void number(uint32_t kernel) {
    Record& record = timeline_.trace.records[kernel];
    const Communication& c = timeline_.trace.communications[record.detail];
    record.correlation = kNone;
    if (c.kind == PRISM_NODE_COMPUTE || c.kind == PRISM_NODE_BATCH || is_point_to_point(c.kind)) {
      return;
    }
    const size_t group = has_group(c) ? c.group : next_.size() - 1;
    record.correlation = next_[group]++;
    all_numbered_[group] = all_numbered_[group] && c.sequence >= 0 && c.sequence < kNone;
  }

  /// Where every collective of a group says its number, that is the one.
  void use_given_numbers() {
    for (Record& record : timeline_.trace.records) {
      if (record.kind() != Kind::Communication || record.correlation == kNone) {
        continue;
      }
      const Communication& c = timeline_.trace.communications[record.detail];
      if (has_group(c) && all_numbered_[c.group]) {
        record.correlation = static_cast<uint32_t>(c.sequence);
      }
    }
  }

  Timeline& timeline_;
  std::vector<Thread> threads_;
  std::vector<uint32_t> next_;  ///< by group; last: of no known group
  std::vector<bool> all_numbered_;
  Operations operations_;
};

}  // namespace

bool is_point_to_point(int32_t kind) {
  return kind == PRISM_COMM_SEND || kind == PRISM_COMM_RECV;
}

Operations find_operations(Timeline& timeline) {
  return Finder(timeline).find();
}

}  // namespace prism::kineto
