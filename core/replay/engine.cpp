// SPDX-License-Identifier: Apache-2.0
#include "core/replay/engine.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <tuple>

#include "core/graph/describe.hpp"
#include "core/replay/state.hpp"
#include "core/replay/window.hpp"

namespace prism::replay {
namespace {

using graph::Kind;
using graph::Part;

struct RankLane {
  Rank rank;
  uint32_t lane;
};

/// A finished node that other lanes still wait for.
struct Source {
  TimeNs run_start = 0;
  TimeNs end = 0;
  uint32_t readers = kNone;  ///< that have not read it; kNone: it has not ended
};

/// A collective that has begun to arrive.
struct Group {
  Kind kind = Kind::Barrier;
  int32_t root = -1;
  uint32_t arrived = 0;
  bool root_arrived = false;
  Rank last = 0;
  TimeNs last_arrival = -1;
  TimeNs root_arrival = 0;
  RankLane root_place{};
  std::vector<RankLane> waiting;
};
constexpr uint32_t kDone = kNone - 1;

/// The n-th message of a channel.
struct Message {
  enum State : uint8_t { Nothing, SendWaits, EagerSent, RecvWaits, Done };
  State state = Nothing;
  TimeNs arrival = 0;
};

struct MailboxState {
  std::set<std::tuple<TimeNs, Rank, uint32_t>> sends;  ///< arrival, source, part
  std::set<std::tuple<TimeNs, uint32_t>> recvs;        ///< arrival, part
  TimeNs candidate = -1;                               ///< when the next match happens; -1: none
};

class Engine {
 public:
  Engine(const graph::Job& job, const graph::Times& times, const graph::Messages& messages,
         const ReplayOptions& options)
      : job_(job), options_(options), state_{job, times, messages, {}, {}, {}, {}, {}, {}} {}

  Result<ReplayResult> run() {
    prepare();
    go();
    if (!failure_.ok()) {
      return failure_;
    }
    if (unfinished_lanes_ != 0 || open_groups_ != 0 || open_messages_ != 0) {
      return explain_stall(state_);
    }
    finish_result();
    return std::move(result_);
  }

 private:
  // ---- Preparation ----

  void prepare() {
    for (const graph::Class& c : job_.classes) {
      iterations_ = std::max(iterations_, c.program.iterations);
    }
    last_iteration_ = std::min(options_.last_iteration, iterations_ == 0 ? 0 : iterations_ - 1);
    for (const graph::Class& c : job_.classes) {
      state_.classes.push_back(compile(c.program, options_.first_iteration, last_iteration_));
    }
    uint64_t lanes = 0;
    uint64_t sources = 0;
    uint64_t kept = 0;
    for (Rank rank = 0; rank < job_.world_size; ++rank) {
      const Compiled& compiled = state_.compiled(rank);
      state_.first_lane.push_back(lanes);
      first_source_.push_back(sources);
      state_.first_kept.push_back(kept);
      lanes += compiled.lanes.size();
      sources += compiled.source_lanes;
      kept += compiled.kept;
    }
    state_.lanes.resize(lanes);
    busy_.resize(lanes, 0);
    sources_.resize(sources);
    if (options_.critical_path) {
      state_.kept_ends.resize(kept, -1);
    }
    groups_of_.resize(job_.communicators.size());
    messages_of_.resize(state_.messages.channels.size());
    mailboxes_.resize(state_.messages.mailboxes.size());
    split_.resize(uint64_t{job_.world_size} * iterations_);
    result_.iteration_end.resize(iterations_, 0);
    recorded_as_.resize(job_.world_size, kNone);
    for (const Rank rank : options_.record) {
      if (rank < job_.world_size && recorded_as_[rank] == kNone) {
        recorded_as_[rank] = static_cast<uint32_t>(result_.recorded.size());
        result_.recorded.push_back({rank, {}});
        result_.recorded.back().nodes.resize(job_.program(rank).nodes.size());
      }
    }
    for (Rank rank = job_.world_size; rank-- > 0;) {
      const auto& own = state_.compiled(rank).lanes;
      for (auto lane = static_cast<uint32_t>(own.size()); lane-- > 0;) {
        if (own[lane].op_count != 0) {
          ++unfinished_lanes_;
          work_.push_back({rank, lane});
        }
      }
    }
  }

  // ---- Lanes ----

  void go() {
    do {
      while (!work_.empty() && failure_.ok()) {
        const RankLane next = work_.back();
        work_.pop_back();
        run_lane(next.rank, next.lane);
      }
      // Only now is it certain that no send can arrive before the next match.
    } while (failure_.ok() && match_any_source());
  }

  /// Runs the nodes of a lane until one has to wait.
  void run_lane(Rank rank, uint32_t lane_index) {
    const Compiled& compiled = state_.compiled(rank);
    const CompiledLane& lane = compiled.lanes[lane_index];
    LaneState& at = state_.lane(rank, lane_index);
    while (at.cursor < lane.op_count && at.pending == 0) {
      const Op& op = compiled.ops[lane.first_op + at.cursor];
      if (!arrive(rank, compiled, lane, op, at)) {
        return;
      }
      if (op.kind == Kind::Compute || op.kind == Kind::Transfer) {
        finish(rank, lane_index, at.arrival + state_.duration(rank, op));
      } else if (op.slot != kNone) {
        join(rank, lane_index, op, at);
      } else {
        post_parts(rank, lane_index, op, at);
      }
    }
  }

  /// Sets the arrival of the node, unless something it depends on has not ended.
  bool arrive(Rank rank, const Compiled& compiled, const CompiledLane& lane, const Op& op,
              LaneState& at) {
    const Dependency* dependency = compiled.dependencies.data() + op.first_dependency;
    const Dependency* const end = dependency + op.dependency_count;
    const LaneState* const lanes = state_.lanes.data() + state_.first_lane[rank];
    for (const Dependency* d = dependency; d != end; ++d) {
      if (lanes[d->lane].cursor <= d->index) {
        return false;
      }
    }
    TimeNs ready = at.end;
    TimeNs run_start = 0;
    const Dependency* latest = nullptr;
    for (const Dependency* d = dependency; d != end; ++d) {
      Window<Source>& window = sources_[first_source_[rank] + compiled.lanes[d->lane].sources];
      Source& source = window[d->source];
      if (source.end > ready) {
        ready = source.end;
        run_start = source.run_start;
        latest = d;
      }
      if (--source.readers == 0) {
        window.drop_front([](const Source& s) { return s.readers == 0; });
      }
    }
    const DurationNs gap = state_.gap(rank, op);
    at.arrival = ready + gap;
    if (lane.main) {
      TimeSplit& split = split_[uint64_t{rank} * iterations_ + op.iteration];
      split.compute += gap;
      if (latest != nullptr) {
        const DurationNs ran = ready - std::max(at.end, run_start);
        (compiled.op(*latest).kind == Kind::Compute ? split.compute : split.communication) += ran;
        split.waiting += ready - at.end - ran;
      }
    }
    return true;
  }

  /// The node at the cursor ends.
  void finish(Rank rank, uint32_t lane_index, TimeNs end) {
    const Compiled& compiled = state_.compiled(rank);
    const CompiledLane& lane = compiled.lanes[lane_index];
    LaneState& at = state_.lane(rank, lane_index);
    const Op& op = compiled.ops[lane.first_op + at.cursor];
    const DurationNs duration = state_.duration(rank, op);
    at.pending = 0;
    at.end = end;
    ++at.cursor;
    ++result_.nodes;
    if (at.cursor == lane.op_count) {
      --unfinished_lanes_;
      result_.end = std::max(result_.end, end);
    }
    if (lane.cpu) {
      result_.iteration_end[op.iteration] = std::max(result_.iteration_end[op.iteration], end);
      if (lane.main) {
        TimeSplit& split = split_[uint64_t{rank} * iterations_ + op.iteration];
        (op.kind == Kind::Compute ? split.compute : split.communication) += duration;
        split.waiting += end - at.arrival - duration;
      }
    }
    if (op.in_window) {
      busy_[state_.first_lane[rank] + lane_index] += duration;
      if (options_.critical_path) {
        state_.kept_ends[state_.first_kept[rank] + op.kept] = end;
      }
    }
    if (recorded_as_[rank] != kNone) {
      result_.recorded[recorded_as_[rank]].nodes[op.node] = {
          op.kind == Kind::Batch ? at.arrival : end - duration, end, at.arrival};
    }
    if (op.reader_count != 0) {
      sources_[first_source_[rank] + lane.sources].open(op.source) = {end - duration, end,
                                                                      op.reader_count};
      const Place* reader = compiled.readers.data() + op.first_reader;
      for (uint32_t r = 0; r < op.reader_count; ++r, ++reader) {
        if (state_.lane(rank, reader->lane).cursor == reader->index) {
          work_.push_back({rank, reader->lane});
        }
      }
    }
  }

  /// The collective at the cursor has all it needs; `late` is who came last.
  void start(RankLane place, TimeNs start, Rank late) {
    const LaneState& at = state_.lane(place.rank, place.lane);
    const Op& op = state_.compiled(place.rank).op({place.lane, at.cursor});
    blame(place.rank, op, late, start - at.arrival);
    finish(place.rank, place.lane, start + state_.duration(place.rank, op));
  }

  /// The same for a node that waited, whose lane can go on now.
  void release(RankLane place, TimeNs at, Rank late) {
    start(place, at, late);
    work_.push_back(place);
  }

  void blame(Rank waiting, const Op& op, Rank late, DurationNs wait) {
    if (wait <= 0 || !op.in_window) {
      return;
    }
    const uint64_t key = State::key(late, job_.class_of[waiting]);
    if (last_blamed_ == nullptr || last_blamed_key_ != key) {
      last_blamed_key_ = key;
      last_blamed_ = &blamed_[key];
    }
    last_blamed_->first += wait;
    ++last_blamed_->second;
  }

  // ---- Collectives ----

  void join(Rank rank, uint32_t lane, const Op& op, LaneState& at) {
    const uint32_t communicator = job_.communicator(rank, op.slot);
    const std::vector<Rank>& members = job_.communicators[communicator].ranks;
    if (members.size() == 1) {
      finish(rank, lane, at.arrival + state_.duration(rank, op));
      return;
    }
    at.pending = 1;
    uint32_t& entry = groups_of_[communicator].open(op.sequence).group;
    if (entry == kNone) {
      entry = new_group(op);
    }
    Group& group = groups_[entry];
    if (group.kind != op.kind || group.root != op.root) {
      failure_ = run_error(
          "the members of communicator " + graph::describe(job_.communicators[communicator]) +
          " disagree about a collective: " + graph::describe_node(job_, rank, op.node) +
          " meets another kind or root");
      return;
    }
    ++group.arrived;
    if (at.arrival > group.last_arrival ||
        (at.arrival == group.last_arrival && rank < group.last)) {
      group.last_arrival = at.arrival;
      group.last = rank;
    }
    const bool complete = group.arrived == members.size();
    if (!graph::has_root(op.kind)) {
      if (complete) {
        release_waiting(group, group.last_arrival, group.last);
        start({rank, lane}, group.last_arrival, group.last);
      } else {
        group.waiting.push_back({rank, lane});
      }
    } else if (members[static_cast<size_t>(op.root)] == rank) {
      group.root_arrived = true;
      group.root_arrival = at.arrival;
      group.root_place = {rank, lane};
      release_waiting(group, at.arrival, rank);
      if (op.kind == Kind::Broadcast) {
        finish(rank, lane, at.arrival + state_.duration(rank, op));
      }
    } else if (group.root_arrived) {
      start({rank, lane}, std::max(at.arrival, group.root_arrival), group.root_place.rank);
    } else {
      group.waiting.push_back({rank, lane});
    }
    if (complete) {
      if (graph::has_root(op.kind) && op.kind != Kind::Broadcast) {
        release(group.root_place, group.last_arrival, group.last);
      }
      close_group(communicator, op.sequence);
    }
  }

  /// Those that waited start at `earliest`, or later if they arrived later.
  void release_waiting(Group& group, TimeNs earliest, Rank late) {
    for (const RankLane place : group.waiting) {
      release(place, std::max(earliest, state_.lane(place.rank, place.lane).arrival), late);
    }
    group.waiting.clear();
  }

  uint32_t new_group(const Op& op) {
    ++open_groups_;
    if (free_groups_.empty()) {
      free_groups_.push_back(static_cast<uint32_t>(groups_.size()));
      groups_.emplace_back();
    }
    const uint32_t index = free_groups_.back();
    free_groups_.pop_back();
    groups_[index].kind = op.kind;
    groups_[index].root = op.root;
    return index;
  }

  void close_group(uint32_t communicator, uint32_t sequence) {
    Window<GroupEntry>& window = groups_of_[communicator];
    uint32_t& entry = window[sequence].group;
    std::vector<RankLane> waiting = std::move(groups_[entry].waiting);
    groups_[entry] = Group{};
    groups_[entry].waiting = std::move(waiting);  // keeps its memory
    free_groups_.push_back(entry);
    entry = kDone;
    --open_groups_;
    window.drop_front([](const GroupEntry& e) { return e.group == kDone; });
  }

  // ---- Messages ----

  void post_parts(Rank rank, uint32_t lane, const Op& op, LaneState& at) {
    at.parts_end = at.arrival;
    at.pending = op.part_count + 1;  // one for this loop, so that it does not end before
    for (uint32_t p = op.first_part; p < op.first_part + op.part_count; ++p) {
      post(rank, p, at.arrival);
    }
    if (--at.pending == 0) {
      finish(rank, lane, at.parts_end);
    }
  }

  const Part& part(PartOf p) const { return job_.program(p.rank).parts[p.part]; }

  void post(Rank rank, uint32_t index, TimeNs arrival) {
    const PartOf own{rank, index};
    const Part& posted = part(own);
    const graph::ClassMessages& messages = state_.messages.classes[job_.class_of[rank]];
    const uint32_t id = state_.messages.channel_or_mailbox(rank, messages.endpoint_of_part[index]);
    const bool sends = posted.kind == Kind::Send;
    if (!sends && posted.peer == graph::kAnySource) {
      mailboxes_[id].recvs.insert({arrival, index});
      ++open_messages_;
      update_candidate(id);
      return;
    }
    const graph::Channel& channel = state_.messages.channels[id];
    const bool eager = sends && is_eager(job_.program(rank), posted, options_.eager_bytes);
    if (eager) {
      end_part(own, arrival, arrival, rank);
    }
    if (channel.mailbox != kNone) {
      mailboxes_[channel.mailbox].sends.insert({arrival, rank, index});
      ++open_messages_;
      update_candidate(channel.mailbox);
      return;
    }
    Window<Message>& window = messages_of_[id];
    const uint32_t n = messages.nth_of_part[index];
    Message& message = window.open(n);
    if (message.state == Message::Nothing) {
      message.state = !sends ? Message::RecvWaits : eager ? Message::EagerSent : Message::SendWaits;
      message.arrival = arrival;
      ++open_messages_;
      return;
    }
    const Rank peer = sends ? channel.destination : channel.source;
    const auto& peer_endpoints = state_.messages.classes[job_.class_of[peer]].endpoints;
    const PartOf other{peer, peer_endpoints[sends ? channel.receiver : channel.sender].parts[n]};
    const bool sent_before = message.state == Message::EagerSent;
    const TimeNs other_arrival = message.arrival;
    message.state = Message::Done;
    --open_messages_;
    window.drop_front([](const Message& m) { return m.state == Message::Done; });
    const TimeNs both = std::max(arrival, other_arrival);
    if (!eager) {
      end_part(own, both, arrival, peer);
    }
    if (!sent_before) {
      end_part(other, both, other_arrival, rank);
    }
  }

  /// A part begins at `begin`; it arrived at `arrival` and waited for `late`.
  void end_part(PartOf p, TimeNs begin, TimeNs arrival, Rank late) {
    const Compiled& compiled = state_.compiled(p.rank);
    const Place place = compiled.place_of_node[state_.node_of_part(p.rank, p.part)];
    LaneState& at = state_.lane(p.rank, place.lane);
    blame(p.rank, compiled.op(place), late, begin - arrival);
    at.parts_end = std::max(at.parts_end, begin + state_.part_duration(p.rank, p.part));
    if (--at.pending == 0) {
      finish(p.rank, place.lane, at.parts_end);
      work_.push_back({p.rank, place.lane});
    }
  }

  // ---- Receives from any source ----

  using Candidate = std::tuple<TimeNs, Rank, uint32_t, int32_t, uint32_t>;
  Candidate candidate_of(uint32_t mailbox) const {
    const graph::Mailbox& m = state_.messages.mailboxes[mailbox];
    return {mailboxes_[mailbox].candidate, m.destination, m.communicator, m.tag, mailbox};
  }

  void update_candidate(uint32_t mailbox) {
    MailboxState& m = mailboxes_[mailbox];
    if (m.candidate >= 0) {
      candidates_.erase(candidate_of(mailbox));
      m.candidate = -1;
    }
    if (!m.sends.empty() && !m.recvs.empty()) {
      m.candidate = std::max(std::get<0>(*m.sends.begin()), std::get<0>(*m.recvs.begin()));
      candidates_.insert(candidate_of(mailbox));
    }
  }

  /// Makes the match that happens first; false if there is none.
  bool match_any_source() {
    if (candidates_.empty()) {
      return false;
    }
    const uint32_t mailbox = std::get<4>(*candidates_.begin());
    MailboxState& m = mailboxes_[mailbox];
    const auto [send_arrival, source, send_part] = *m.sends.begin();
    const auto [recv_arrival, recv_part] = *m.recvs.begin();
    m.sends.erase(m.sends.begin());
    m.recvs.erase(m.recvs.begin());
    open_messages_ -= 2;
    update_candidate(mailbox);
    const PartOf send{source, send_part};
    const PartOf recv{state_.messages.mailboxes[mailbox].destination, recv_part};
    if (part(send).bytes != part(recv).bytes || part(send).dtype != part(recv).dtype) {
      failure_ = run_error(
          "a recv from any source does not fit the message that it gets: " +
          graph::describe_node(job_, recv.rank, state_.node_of_part(recv.rank, recv_part)) +
          " gets the " + graph::describe_part(job_, source, part(send)) + " of " +
          graph::describe_node(job_, source, state_.node_of_part(source, send_part)));
      return true;
    }
    state_.any_source[State::key(send.rank, send.part)] = recv;
    state_.any_source[State::key(recv.rank, recv.part)] = send;
    const TimeNs both = std::max(send_arrival, recv_arrival);
    if (!is_eager(job_.program(source), part(send), options_.eager_bytes)) {
      end_part(send, both, send_arrival, recv.rank);
    }
    end_part(recv, both, recv_arrival, source);
    return true;
  }

  // ---- Result ----

  void finish_result() {
    TimeNs before = 0;
    for (TimeNs& end : result_.iteration_end) {
      end = std::max(end, before);
      result_.iteration_time.push_back(end - before);
      before = end;
    }
    if (iterations_ != 0) {
      result_.window_end = result_.iteration_end[last_iteration_];
      const uint32_t first = std::min(options_.first_iteration, iterations_);
      result_.window_start = first == 0 ? 0 : result_.iteration_end[first - 1];
    }
    for (const graph::Class& c : job_.classes) {
      result_.classes.push_back(times_of(c));
    }
    for (const auto& [key, total] : blamed_) {
      result_.waits.push_back(
          {static_cast<Rank>(key >> 32U), static_cast<uint32_t>(key), total.first, total.second});
    }
    std::sort(result_.waits.begin(), result_.waits.end(), [](const Wait& a, const Wait& b) {
      return std::tie(b.total, a.late, a.waiting_class) <
             std::tie(a.total, b.late, b.waiting_class);
    });
    if (result_.waits.size() > options_.top_waits) {
      result_.waits.resize(options_.top_waits);
    }
    if (options_.critical_path && iterations_ != 0) {
      result_.critical_path = find_critical_path(state_, options_, result_, last_iteration_);
    }
  }

  ClassTimes times_of(const graph::Class& c) const {
    ClassTimes times;
    const Rank representative = c.members[c.representative];
    for (uint32_t i = 0; i < iterations_; ++i) {
      const auto of = [&](Rank rank) -> const TimeSplit& {
        return split_[uint64_t{rank} * iterations_ + i];
      };
      TimeSplit least = of(representative);
      TimeSplit most = least;
      for (const Rank rank : c.members) {
        for (const auto field :
             {&TimeSplit::compute, &TimeSplit::communication, &TimeSplit::waiting}) {
          least.*field = std::min(least.*field, of(rank).*field);
          most.*field = std::max(most.*field, of(rank).*field);
        }
      }
      times.representative.push_back(of(representative));
      times.least.push_back(least);
      times.most.push_back(most);
    }
    for (uint32_t lane = 0; lane < c.program.lanes.size(); ++lane) {
      const auto of = [&](Rank rank) { return busy_[state_.first_lane[rank] + lane]; };
      LaneUse use{of(representative), of(representative), of(representative)};
      for (const Rank rank : c.members) {
        use.least = std::min(use.least, of(rank));
        use.most = std::max(use.most, of(rank));
      }
      times.lanes.push_back(use);
    }
    return times;
  }

  struct GroupEntry {
    uint32_t group = kNone;  ///< index into groups_; kDone when complete
  };

  const graph::Job& job_;
  const ReplayOptions& options_;
  State state_;
  uint32_t iterations_ = 0;
  uint32_t last_iteration_ = 0;

  std::vector<RankLane> work_;          ///< lanes that may be able to go on
  std::vector<uint64_t> first_source_;  ///< by rank
  std::vector<Window<Source>> sources_;
  std::vector<Window<GroupEntry>> groups_of_;  ///< by communicator, by sequence
  std::vector<Group> groups_;
  std::vector<uint32_t> free_groups_;
  std::vector<Window<Message>> messages_of_;  ///< by channel
  std::vector<MailboxState> mailboxes_;
  std::set<Candidate> candidates_;

  std::vector<DurationNs> busy_;       ///< by lane of a rank
  std::vector<TimeSplit> split_;       ///< by rank and iteration
  std::vector<uint32_t> recorded_as_;  ///< by rank: index into result_.recorded
  std::unordered_map<uint64_t, std::pair<DurationNs, uint64_t>> blamed_;
  std::pair<DurationNs, uint64_t>* last_blamed_ = nullptr;
  uint64_t last_blamed_key_ = 0;

  uint64_t unfinished_lanes_ = 0;
  uint64_t open_groups_ = 0;
  uint64_t open_messages_ = 0;
  Status failure_;
  ReplayResult result_;
};

}  // namespace

Result<ReplayResult> replay(const graph::Job& job, const ReplayOptions& options) {
  return replay(job, {}, options);
}

Result<ReplayResult> replay(const graph::Job& job, const graph::Times& times,
                            const ReplayOptions& options) {
  PRISM_TRY_ASSIGN(const graph::Messages messages, graph::connect_messages(job));
  return Engine(job, times, messages, options).run();
}

}  // namespace prism::replay
