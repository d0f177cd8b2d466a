// SPDX-License-Identifier: Apache-2.0
#include "core/schedule/recorder.hpp"

#include <algorithm>
#include <initializer_list>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "core/graph/builder.hpp"
#include "core/schedule/iterations.hpp"

namespace prism::schedule {
namespace {

using graph::Kind;
using graph::kNone;
using graph::LaneKind;
using graph::Part;

const wire::Clocks* clocks_of(const wire::Message& event) {
  return std::visit(
      [](const auto& e) -> const wire::Clocks* {
        if constexpr (requires { e.clocks; }) {
          return &e.clocks;
        } else {
          return nullptr;
        }
      },
      event);
}

/// What the agent cost at an event, by both clocks: it ends where the program goes on.
struct Cost {
  int64_t mono_ns = 0;
  int64_t cpu_ns = 0;
};

/// For every event: what the agent cost between this event and the next one of the same thread.
std::vector<Cost> own_costs(const std::vector<wire::Message>& events) {
  std::vector<Cost> cost(events.size());
  std::unordered_map<uint32_t, size_t> last_of_thread;
  for (size_t i = 0; i < events.size(); ++i) {
    const wire::Clocks* clocks = clocks_of(events[i]);
    if (clocks == nullptr || std::holds_alternative<wire::Done>(events[i])) {
      continue;
    }
    const auto [it, first] = last_of_thread.try_emplace(clocks->thread, i);
    if (!first) {
      const wire::Clocks& before = *clocks_of(events[it->second]);
      cost[it->second] = {clocks->cost_mono_ns - before.cost_mono_ns,
                          clocks->cost_cpu_ns - before.cost_cpu_ns};
      it->second = i;
    }
  }
  return cost;
}

/// For every event: the iteration it belongs to (recorder.hpp).
struct Iterations {
  std::vector<uint32_t> of_event;
  uint32_t training = 0;
  bool has_optimizer = false;
};

Iterations find_iterations(const std::vector<wire::Message>& events) {
  const IterationMarks marks = find_iteration_marks(events);
  Iterations result;
  result.has_optimizer = !marks.ends.empty();
  result.of_event.assign(events.size(), 1);
  if (marks.ends.empty()) {
    result.training = 1;
    return result;
  }
  result.training = static_cast<uint32_t>(marks.ends.size());
  // A span belongs to the event that ends it, so the first forward still ends the start.
  const size_t start = marks.first_forward < marks.ends.front() ? marks.first_forward : 0;
  for (size_t i = 0; i < events.size(); ++i) {
    const auto passed =
        std::lower_bound(marks.ends.begin(), marks.ends.end(), i) - marks.ends.begin();
    result.of_event[i] = i <= start ? 0 : static_cast<uint32_t>(passed) + 1;
  }
  return result;
}

class Recorder {
 public:
  explicit Recorder(const Recording& recording)
      : recording_(recording),
        builder_(recording.rank, recording.world_size),
        cpu_(builder_.add_lane(LaneKind::Cpu, "cpu:0")) {}

  Result<RecordedRank> run() {
    const auto& events = recording_.events;
    const std::vector<Cost> cost = own_costs(events);
    const Iterations iterations = find_iterations(events);
    out_.has_optimizer = iterations.has_optimizer;
    out_.training_iterations = iterations.training;
    out_.iteration_shape.assign(iterations.training + 2, 0xcbf29ce484222325);
    out_.iteration_bytes.assign(iterations.training + 2, 0);

    for (const wire::Message& event : events) {
      if (const auto* wait = std::get_if<wire::Wait>(&event)) {
        waited_.insert(wait->op);
      }
    }
    for (size_t i = 0; i < events.size(); ++i) {
      for (; iteration_ < iterations.of_event[i]; ++iteration_) {
        builder_.next_iteration();
      }
      const wire::Clocks* clocks = clocks_of(events[i]);
      if (const auto* done = std::get_if<wire::Done>(&events[i])) {
        count_made_up(*done);
        continue;
      }
      if (clocks == nullptr) {
        return bad_event(i, "is one that only the coordinator sends");
      }
      PRISM_TRY(advance(i, *clocks, cost[i]));
      const auto* op = std::get_if<wire::Op>(&events[i]);
      if (open_batch_ != 0 && (op == nullptr || op->batch != open_batch_)) {
        close_batch();
      }
      if (op != nullptr) {
        PRISM_TRY(add_operation(i, *op));
      } else if (const auto* group = std::get_if<wire::Group>(&events[i])) {
        PRISM_TRY(add_group(i, *group));
      } else if (const auto* wait = std::get_if<wire::Wait>(&events[i])) {
        PRISM_TRY(add_wait(i, *wait));
      } else if (!std::holds_alternative<wire::Hello>(events[i])) {
        if (const auto* mark = std::get_if<wire::Mark>(&events[i])) {
          note_optimizer(*mark);
        }
        // A mark or the end: what was waited for through futures is there by now.
        for (const uint32_t unit : std::exchange(through_future_, {})) {
          move_data(unit);
        }
      }
      const bool last = i + 1 == events.size() || iterations.of_event[i + 1] != iteration_;
      if (last) {
        finish_iteration();
      }
    }
    out_.program = std::move(builder_).finish();
    out_.program.iterations = iterations.training + 2;
    return std::move(out_);
  }

 private:
  /// Communications that one work stands for: one operation, or all of a batch.
  struct Unit {
    std::vector<uint32_t> nodes;  ///< whose data has not been moved yet
    bool waited_for = false;      ///< now or later
  };

  static Status bad_event(size_t index, const std::string& what) {
    return run_error("event " + std::to_string(index + 1) + " of the recording " + what,
                     Code::DataLoss);
  }

  /// Adds the compute span that ends with this event.
  Status advance(size_t index, const wire::Clocks& clocks, const Cost& cost) {
    if (index > 0) {
      // An agent's own cost that reaches past another thread's event is no time of the program.
      const DurationNs span = std::max<int64_t>(0, clocks.mono_ns - program_time_);
      if (clocks.mono_ns < last_mono_ - kClockSlackNs) {
        return bad_event(index, "lies before the one that came earlier");
      }
      last_cpu_ = builder_.add_compute(cpu_, span);
      const auto earlier = thread_cpu_.find(clocks.thread);
      if (earlier != thread_cpu_.end() && is_training()) {
        out_.compute_ns += span;
        out_.compute_cpu_ns += std::max<int64_t>(0, clocks.cpu_ns - earlier->second);
      }
    }
    thread_cpu_[clocks.thread] = clocks.cpu_ns + cost.cpu_ns;
    last_mono_ = std::max(last_mono_, clocks.mono_ns);
    program_time_ = std::max(program_time_, clocks.mono_ns + std::max<int64_t>(0, cost.mono_ns));
    out_.agent_cost_ns += std::max<int64_t>(0, cost.mono_ns);
    return {};
  }

  void note_optimizer(const wire::Mark& mark) {
    auto& known = out_.optimizers;
    if (mark.kind == wire::kMarkOptimizerBegin &&
        std::find(known.begin(), known.end(), mark.name) == known.end()) {
      known.push_back(mark.name);
    }
  }

  bool is_training() const { return iteration_ > 0 && iteration_ <= out_.training_iterations; }

  std::vector<uint32_t> after_last_cpu() const {
    return last_cpu_ == kNone ? std::vector<uint32_t>{} : std::vector<uint32_t>{last_cpu_};
  }

  uint32_t lane(const std::string& name) {
    const auto it = lanes_.find(name);
    return it != lanes_.end()
               ? it->second
               : lanes_.emplace(name, builder_.add_lane(LaneKind::Comm, name)).first->second;
  }

  const graph::Communicator& communicator(uint32_t slot) const {
    return builder_.program().communicators[slot];
  }

  Status add_group(size_t index, const wire::Group& group) {
    graph::Communicator created{group.name, group.description, group.backend, group.ranks, 0, 0};
    if (group.member == 0) {
      builder_.add_other(std::move(created));
      return {};
    }
    const auto own = std::find(group.ranks.begin(), group.ranks.end(), recording_.rank);
    if (own == group.ranks.end()) {
      return bad_event(index, "says that rank " + std::to_string(recording_.rank) +
                                  " is a member of the group '" + group.name +
                                  "', whose list of ranks lacks it");
    }
    const auto slot = static_cast<uint32_t>(builder_.program().communicators.size());
    if (!slots_.try_emplace(group.id, slot).second) {
      return bad_event(index, "creates group " + std::to_string(group.id) + " a second time");
    }
    builder_.add_communicator(std::move(created));
    return {};
  }

  Status add_operation(size_t index, const wire::Op& op) {
    const auto slot = slots_.find(op.group);
    if (slot == slots_.end()) {
      return bad_event(index, "is an operation on a group that this rank never joined");
    }
    const bool message = op.kind == PRISM_COMM_SEND || op.kind == PRISM_COMM_RECV;
    const auto members = static_cast<int64_t>(members_of(slot->second));
    const bool any_source = op.kind == PRISM_COMM_RECV && op.peer == wire::kAnySource;
    if (op.peer >= members || (op.peer < 0 && graph::has_root(static_cast<Kind>(op.kind))) ||
        (op.peer < 0 && message && !any_source)) {
      return bad_event(
          index, "names group rank " + std::to_string(op.peer) + " of " + std::to_string(members));
    }
    const uint32_t unit = unit_of(op);
    if (!operations_.try_emplace(op.id, Issued{slot->second, op.kind, unit}).second) {
      return bad_event(index, "issues operation " + std::to_string(op.id) + " a second time");
    }
    ++out_.communications;
    shape({op.kind, slot->second, static_cast<uint64_t>(op.peer), static_cast<uint64_t>(op.tag),
           op.batch != 0});
    out_.iteration_bytes[iteration_] += op.input_bytes + op.output_bytes;
    if (message && op.batch != 0) {
      open_batch_ = op.batch;
      batch_parts_.push_back(part_of(op, slot->second));
    } else {
      units_[unit].nodes.push_back(message ? add_message(op, slot->second)
                                           : add_collective(op, slot->second));
      if (!message && op.batch == 0 && (op.flags & wire::kOpAsync) == 0) {
        move_data(unit);  // the program waits inside the call
      }
    }
    return {};
  }

  /// The unit of this operation: its own, or that of its batch, for which one work stands.
  uint32_t unit_of(const wire::Op& op) {
    const auto next = static_cast<uint32_t>(units_.size());
    const uint32_t unit =
        op.batch == 0 ? next : unit_of_batch_.try_emplace(op.batch, next).first->second;
    if (unit == next) {
      units_.emplace_back();
    }
    units_[unit].waited_for |= waited_.count(op.id) != 0;
    return unit;
  }

  uint32_t add_collective(const wire::Op& op, uint32_t slot) {
    graph::Collective collective;
    collective.kind = static_cast<Kind>(op.kind);
    collective.communicator = slot;
    collective.dtype = op.dtype;
    collective.reduction = op.reduction;
    collective.root = op.peer;
    collective.input_bytes = op.input_bytes;
    collective.output_bytes = op.output_bytes;
    if (graph::has_root(static_cast<Kind>(op.kind))) {
      collective.input_bytes = collective.output_bytes = share_of_member(op, slot);
    }
    return builder_.add_collective(lane("comm:" + communicator(slot).name), collective,
                                   after_last_cpu());
  }

  /// Bytes between the root and each other member. The root alone sees them on the other side (and,
  /// of scatter and gather, those of all), which must not make it look unlike its class.
  uint64_t share_of_member(const wire::Op& op, uint32_t slot) const {
    const uint64_t larger = std::max(op.input_bytes, op.output_bytes);
    const uint64_t smaller = std::min(op.input_bytes, op.output_bytes);
    const bool parts = op.kind == PRISM_COMM_SCATTER || op.kind == PRISM_COMM_GATHER;
    if (!parts) {
      return larger;
    }
    return smaller != 0 ? smaller : larger / (is_root(op, slot) ? members_of(slot) : 1);
  }

  uint64_t members_of(uint32_t slot) const { return communicator(slot).ranks.size(); }
  bool is_root(const wire::Op& op, uint32_t slot) const {
    return communicator(slot).ranks[static_cast<size_t>(op.peer)] == recording_.rank;
  }

  Part part_of(const wire::Op& op, uint32_t slot) const {
    Part part;
    part.kind = static_cast<Kind>(op.kind);
    part.peer = op.peer;
    part.tag = op.tag;
    part.communicator = slot;
    part.bytes = op.kind == PRISM_COMM_SEND ? op.input_bytes : op.output_bytes;
    part.dtype = op.dtype;
    return part;
  }

  uint32_t add_message(const wire::Op& op, uint32_t slot) {
    const std::string peer = op.peer == wire::kAnySource ? "any" : std::to_string(op.peer);
    const bool send = op.kind == PRISM_COMM_SEND;
    return builder_.add_message(
        lane("comm:" + communicator(slot).name + (send ? "/to:" : "/from:") + peer + "#" +
             std::to_string(op.tag)),
        part_of(op, slot), after_last_cpu());
  }

  void close_batch() {
    const std::string& name = communicator(batch_parts_.front().communicator).name;
    units_[unit_of_batch_[open_batch_]].nodes.push_back(
        builder_.add_batch(lane("comm:" + name + "/batch"), batch_parts_, after_last_cpu()));
    batch_parts_.clear();
    open_batch_ = 0;
  }

  Status add_wait(size_t index, const wire::Wait& wait) {
    const auto operation = operations_.find(wait.op);
    if (operation == operations_.end()) {
      return bad_event(
          index, "waits for operation " + std::to_string(wait.op) + ", which was never issued");
    }
    if (wait.via == wire::kWaitFuture) {
      through_future_.push_back(operation->second.unit);
    } else {
      move_data(operation->second.unit);
    }
    return {};
  }

  /// The data of a unit is moved here, unless that was done before.
  void move_data(uint32_t unit) {
    if (units_[unit].nodes.empty()) {
      return;
    }
    shape({0xff, units_.size() - unit});
    for (const uint32_t of : std::exchange(units_[unit].nodes, {})) {
      last_cpu_ = builder_.add_transfer(cpu_, of);
    }
  }

  /// What nobody ever waits for takes the core's time all the same, before the iteration ends.
  void finish_iteration() {
    for (; first_unfinished_unit_ < units_.size(); ++first_unfinished_unit_) {
      if (!units_[first_unfinished_unit_].waited_for) {
        move_data(static_cast<uint32_t>(first_unfinished_unit_));
      }
    }
  }

  void count_made_up(const wire::Done& done) {
    for (const wire::MadeUp& made_up : done.made_up) {
      MadeUpCount count;
      const auto op = operations_.find(done.op);
      if (op != operations_.end()) {
        const graph::Communicator& c = communicator(op->second.slot);
        const bool named = !c.description.empty() && c.description != "undefined";  // torch's word
        count.communicator =
            named ? c.description : "group of " + std::to_string(c.ranks.size()) + " ranks";
        count.operation = graph::to_string(static_cast<Kind>(op->second.kind));
      } else {
        count.communicator = "store";
        count.operation = "get";
      }
      count.source = made_up.source == wire::kMadeUpEcho     ? "echo"
                     : made_up.source == wire::kMadeUpFill   ? "fill"
                     : made_up.source == wire::kMadeUpSource ? made_up.plugin
                                                             : "empty key";
      const auto same = std::find_if(out_.made_up.begin(), out_.made_up.end(), [&](const auto& m) {
        return m.communicator == count.communicator && m.operation == count.operation &&
               m.source == count.source;
      });
      MadeUpCount& total = same != out_.made_up.end() ? *same : out_.made_up.emplace_back(count);
      ++total.operations;
      total.bytes += made_up.bytes;
    }
  }

  /// Mixes numbers into the shape of the current iteration (FNV-1a).
  void shape(std::initializer_list<uint64_t> fields) {
    uint64_t& hash = out_.iteration_shape[iteration_];
    for (const uint64_t field : fields) {
      hash = (hash ^ field) * 0x100000001b3;
      hash ^= hash >> 29;
    }
  }

  struct Issued {
    uint32_t slot;
    uint8_t kind;
    uint32_t unit;
  };

  // Threads read the clock before they take the agent's lock: events may arrive slightly late.
  static constexpr int64_t kClockSlackNs = 1'000'000'000;

  const Recording& recording_;
  graph::Builder builder_;
  uint32_t cpu_;
  RecordedRank out_;
  uint32_t iteration_ = 0;
  uint32_t last_cpu_ = kNone;
  int64_t last_mono_ = 0;
  std::unordered_map<uint32_t, int64_t> thread_cpu_;  ///< CPU clock where the program went on
  int64_t program_time_ = 0;  ///< from here on time belongs to the program again
  std::unordered_map<uint32_t, uint32_t> slots_;  ///< wire group id -> slot
  std::unordered_map<std::string, uint32_t> lanes_;
  std::unordered_map<uint64_t, Issued> operations_;
  std::unordered_set<uint64_t> waited_;  ///< operations that are waited for somewhere
  std::vector<Unit> units_;
  size_t first_unfinished_unit_ = 0;
  std::unordered_map<uint64_t, uint32_t> unit_of_batch_;
  std::vector<uint32_t> through_future_;  ///< units
  uint64_t open_batch_ = 0;               ///< the batch of messages that is being collected
  std::vector<Part> batch_parts_;
};

}  // namespace

Result<RecordedRank> build_program(const Recording& recording) {
  return Recorder(recording).run();
}

}  // namespace prism::schedule
