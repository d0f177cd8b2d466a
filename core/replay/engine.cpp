// SPDX-License-Identifier: Apache-2.0
#include "core/replay/engine.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <tuple>

#include "core/graph/describe.hpp"
#include "core/replay/analysis.hpp"
#include "core/replay/node_recorder.hpp"
#include "core/replay/outside_ranks.hpp"
#include "core/replay/state.hpp"
#include "core/replay/window.hpp"

namespace prism::replay {
namespace {

using graph::Kind;
using graph::Part;

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

/// `Observer`: Analysis, NoAnalysis or NodeRecorder. `Others`: NobodyOutside or OutsideRanks.
template <typename Observer, typename Others>
class Engine {
 public:
  Engine(const graph::Job& job, const graph::Times& times, const graph::Messages& messages,
         const ReplayOptions& options, Others& others)
      : job_(job), options_(options), others_(others), state_(job, messages) {
    prepare(times);
    observer_.emplace(state_, options_, result_, iterations_, last_iteration_);
  }

  Result<ReplayResult> run() {
    go();
    if (!failure_.ok()) {
      return failure_;
    }
    if (!all_done() || open_groups_ != 0 || open_messages_ != 0) {
      return explain_stall(state_);
    }
    finish_result();
    return std::move(result_);
  }

 private:
  /// A lane that never waits (a CPU that launches kernels) is halted after so many nodes, until
  /// the others have come after it: else the ends that they need of it would pile up.
  static constexpr uint32_t kMostAhead = 32;

  struct GroupEntry {
    uint32_t group = kNone;  ///< index into groups_; kDone when complete
  };
  struct CommunicatorState {
    Window<GroupEntry> open;  ///< by sequence
    uint32_t size = 0;
    bool needed = false;       ///< is or was in needed_communicators_
    uint32_t next_member = 0;  ///< those before have begun
  };

  // ---- Preparation ----

  void prepare(const graph::Times& times) {
    for (const graph::Class& c : job_.classes) {
      iterations_ = std::max(iterations_, c.program.iterations);
    }
    last_iteration_ = std::min(options_.last_iteration, iterations_ == 0 ? 0 : iterations_ - 1);
    for (const graph::Class& c : job_.classes) {
      state_.classes.push_back(compile(c.program, options_.first_iteration, last_iteration_));
      state_.own_times.push_back(graph::columns_of(c.program, nullptr));
    }
    uint64_t lanes = 0;
    for (Rank rank = 0; rank < job_.world_size; ++rank) {
      lanes += state_.classes[job_.class_of[rank]].lanes.size();
    }
    state_.lanes.resize(lanes);
    prepare_ranks(times);
    groups_of_.resize(job_.communicators.size());
    for (size_t c = 0; c < groups_of_.size(); ++c) {
      groups_of_[c].size = static_cast<uint32_t>(job_.communicators[c].ranks.size());
    }
    messages_of_.resize(state_.messages.channels.size());
    mailboxes_.resize(state_.messages.mailboxes.size());
    result_.iteration_end.resize(iterations_, 0);
    begun_.resize(job_.world_size, false);
  }

  void prepare_ranks(const graph::Times& times) {
    state_.ranks.resize(job_.world_size);
    LaneState* next = state_.lanes.data();
    for (Rank rank = 0; rank < job_.world_size; ++rank) {
      RankState& of = state_.ranks[rank];
      const uint32_t own_class = job_.class_of[rank];
      of.compiled = &state_.classes[own_class];
      of.lanes = next;
      next += of.compiled->lanes.size();
      of.communicators = job_.table.data() + job_.first_slot[rank];
      const graph::RankTimes* own = times.of(rank);
      const auto column = [&](graph::Column graph::RankTimes::*which) {
        return ColumnView(own != nullptr && !(own->*which).empty()
                              ? own->*which
                              : state_.own_times[own_class].*which);
      };
      of.durations = column(&graph::RankTimes::durations);
      of.gaps = column(&graph::RankTimes::gaps);
      of.parts = column(&graph::RankTimes::parts);
    }
  }

  // ---- Ranks ----
  //
  // The result does not depend on the order of work, the time that it takes does: what few ranks do
  // stays in the cache. So a rank begins when one that has begun waits for it: one replica after
  // another runs to where it needs the next.

  /// Something waits for the ranks of `communicator`.
  void need_members(uint32_t communicator, CommunicatorState& state) {
    if (!state.needed) {
      state.needed = true;
      needed_communicators_.push_back(communicator);
    }
  }
  void need(Rank rank) {
    if (!begun_[rank]) {
      needed_ranks_.push_back(rank);
    }
  }

  void begin(Rank rank) {
    begun_[rank] = true;
    const auto& own = state_.compiled(rank).lanes;
    for (auto lane = static_cast<uint32_t>(own.size()); lane-- > 0;) {
      if (own[lane].op_count != 0) {
        work_.push_back({rank, lane});
      }
    }
  }

  /// Begins the rank that is needed most; false when all have begun.
  bool begin_next() {
    while (!needed_ranks_.empty()) {
      const Rank rank = needed_ranks_.back();
      needed_ranks_.pop_back();
      if (!begun_[rank]) {
        begin(rank);
        return true;
      }
    }
    while (!needed_communicators_.empty()) {
      const uint32_t communicator = needed_communicators_.back();
      const std::vector<Rank>& members = job_.communicators[communicator].ranks;
      uint32_t& next = groups_of_[communicator].next_member;
      while (next < members.size()) {
        const Rank rank = members[next++];
        if (!begun_[rank]) {
          begin(rank);
          return true;
        }
      }
      needed_communicators_.pop_back();
    }
    while (next_rank_ < job_.world_size) {
      const Rank rank = next_rank_++;
      if (!begun_[rank]) {
        begin(rank);
        return true;
      }
    }
    return false;
  }

  // ---- Lanes ----

  bool have_work() {
    while (work_.empty()) {
      if (!halted_.empty()) {
        for (; !halted_.empty(); halted_.pop_back()) {
          work_.push_back(halted_.back());
        }
      } else if (!begin_next()) {
        return false;
      }
    }
    return true;
  }

  void go() {
    if constexpr (Others::kOnClock) {
      failure_ = others_.begin(state_, work_);
    }
    do {
      while (failure_.ok() && have_work()) {
        const RankLane next = work_.back();
        work_.pop_back();
        run_lane(next.rank, next.lane);
        if constexpr (Others::kOnClock) {
          others_.attend(work_);
          hear();
        }
      }
    } while (failure_.ok() && go_on());
  }

  /// When there is no work: makes some; false if there will be none any more.
  bool go_on() {
    if constexpr (Others::kOnClock) {
      using Event = OutsideRanks::Event;
      switch (others_.wait(candidates_.empty() ? -1 : std::get<TimeNs>(*candidates_.begin()))) {
        case Event::Arrival:
          hear();
          return true;
        case Event::Work:
          others_.attend(work_);
          return true;
        case Event::Silence:
          failure_ = others_.silence();
          return false;
        case Event::Match:
        case Event::Nothing:
          break;
      }
    }
    // Only now is it certain that no send can arrive before the next match.
    return match_any_source();
  }

  /// Takes the arrivals of ranks outside.
  void hear() {
    ExternalArrival arrival;
    while (failure_.ok()) {
      const Result<bool> taken = others_.take(arrival);
      if (!taken.ok()) {
        failure_ = taken.status();
      } else if (!*taken) {
        return;
      } else {
        const Place place = state_.compiled(arrival.rank).place_of_node[arrival.node];
        LaneState& at = state_.lane(arrival.rank, place.lane);
        at.arrival = arrival.arrival;
        communicate(arrival.rank, place.lane, state_.compiled(arrival.rank).op(place), at);
      }
    }
  }

  /// Runs the nodes of a lane until one has to wait.
  void run_lane(Rank rank, uint32_t lane_index) {
    if constexpr (Others::kOnClock) {
      if (others_.is_outside(rank)) {
        return;
      }
    }
    const RankState& own = state_.ranks[rank];
    const CompiledLane& lane = own.compiled->lanes[lane_index];
    LaneState& at = own.lanes[lane_index];
    const Op* const ops = own.compiled->ops.data() + lane.first_op;
    for (uint32_t count = 0; at.cursor < lane.op_count && at.pending == 0; ++count) {
      if (!Others::kOnClock && count == kMostAhead) {
        halted_.push_back({rank, lane_index});
        return;
      }
      if constexpr (Others::kOnClock) {
        if (others_.sets_aside(rank, lane_index, at.end)) {
          return;
        }
      }
      const Op& op = ops[at.cursor];
      if (!arrive(rank, own, lane, op, at)) {
        return;
      }
      if (op.kind == Kind::Compute || op.kind == Kind::Transfer) {
        finish(rank, own, lane, op, at, at.arrival + own.durations[op.node]);
      } else {
        communicate(rank, lane_index, op, at);
      }
    }
  }

  /// The communication at the cursor has arrived.
  void communicate(Rank rank, uint32_t lane, const Op& op, LaneState& at) {
    if (op.slot != kNone) {
      join(rank, lane, op, at);
    } else {
      post_parts(rank, lane, op, at);
    }
  }

  /// Sets the arrival of the node, unless something it depends on has not ended.
  bool arrive(Rank rank, const RankState& own, const CompiledLane& lane, const Op& op,
              LaneState& at) {
    const Dependency* const dependencies = own.compiled->dependencies.data() + op.first_dependency;
    TimeNs ready = at.end;
    const Dependency* latest = nullptr;
    for (uint32_t d = 0; d < op.dependency_count; ++d) {
      const Dependency& dependency = dependencies[d];
      const LaneState& other = own.lanes[dependency.lane];
      if (other.cursor <= dependency.index) {
        return false;
      }
      const TimeNs end = other.ends[dependency.source];
      if (end > ready) {
        ready = end;
        latest = &dependency;
      }
    }
    const DurationNs gap = own.gaps[op.node];
    at.arrival = ready + gap;
    observer_->arrived(rank, lane, op, at, ready, gap, latest);
    return true;
  }

  /// The node at the cursor ends.
  void finish(Rank rank, const RankState& own, const CompiledLane& lane, const Op& op,
              LaneState& at, TimeNs end) {
    observer_->ended(rank, lane, op, at, end);
    at.pending = 0;
    at.end = end;
    ++at.cursor;
    if (op.ends_iteration) {
      TimeNs& iteration_end = result_.iteration_end[op.iteration];
      iteration_end = std::max(iteration_end, end);
    }
    if constexpr (Others::kOnClock) {
      if (others_.is_outside(rank)) {
        others_.ended(rank, op.node, end);
        return;
      }
    }
    if (op.source != kNone) {
      keep_end(own, lane, at, op.source, end);
      const Place* reader = own.compiled->readers.data() + op.first_reader;
      for (uint32_t r = 0; r < op.reader_count; ++r, ++reader) {
        if (own.lanes[reader->lane].cursor == reader->index) {
          wake(rank, own, reader->lane);
        }
      }
    }
  }

  /// Work for later, if the node at the cursor of the lane waits for no other node of its rank.
  void wake(Rank rank, const RankState& own, uint32_t lane_index) {
    const CompiledLane& lane = own.compiled->lanes[lane_index];
    const uint32_t cursor = own.lanes[lane_index].cursor;
    if (cursor == lane.op_count) {
      return;
    }
    const Op& op = own.compiled->ops[lane.first_op + cursor];
    const Dependency* dependency = own.compiled->dependencies.data() + op.first_dependency;
    for (uint32_t d = 0; d < op.dependency_count; ++d, ++dependency) {
      if (own.lanes[dependency->lane].cursor <= dependency->index) {
        return;
      }
    }
    work_.push_back({rank, lane_index});
  }
  void finish(Rank rank, uint32_t lane_index, TimeNs end) {
    const RankState& own = state_.ranks[rank];
    const CompiledLane& lane = own.compiled->lanes[lane_index];
    LaneState& at = own.lanes[lane_index];
    finish(rank, own, lane, own.compiled->ops[lane.first_op + at.cursor], at, end);
  }

  /// For the nodes on other lanes that wait for it. Inlined, or the virtual clock would be 3 %
  /// slower: g++ judges by the size of the file, in which there is an engine on a clock too.
  [[gnu::always_inline]] static void keep_end(const RankState& own, const CompiledLane& lane,
                                              LaneState& at, uint32_t source, TimeNs end) {
    if (!at.ends.has_room(source)) {
      uint32_t needed = source;
      for (const ReadingLane& reader : lane.read_by) {
        const uint32_t cursor = own.lanes[reader.lane].cursor;
        if (cursor < reader.first_needed.size()) {
          needed = std::min(needed, reader.first_needed[cursor]);
        }
      }
      at.ends.drop_before(needed);
      if (!at.ends.has_room(source)) {
        at.ends.grow(source);
      }
    }
    at.ends.put(source, end);
  }

  /// The collective at the cursor has all it needs; `late` is who came last.
  void start(RankLane place, TimeNs start, Rank late) {
    const LaneState& at = state_.lane(place.rank, place.lane);
    const Op& op = state_.compiled(place.rank).op({place.lane, at.cursor});
    observer_->waited(place.rank, op, late, start - at.arrival);
    finish(place.rank, place.lane, start + state_.ranks[place.rank].durations[op.node]);
  }

  /// The same for a node that waited, whose lane can go on now.
  void release(RankLane place, TimeNs at, Rank late) {
    start(place, at, late);
    wake(place.rank, state_.ranks[place.rank], place.lane);
  }

  // ---- Collectives ----

  void join(Rank rank, uint32_t lane, const Op& op, LaneState& at) {
    const uint32_t communicator = state_.ranks[rank].communicators[op.slot];
    CommunicatorState& of_communicator = groups_of_[communicator];
    if (of_communicator.size == 1) {
      finish(rank, lane, at.arrival + state_.ranks[rank].durations[op.node]);
      return;
    }
    at.pending = 1;
    uint32_t& entry = of_communicator.open.open(op.sequence).group;
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
    const bool complete = group.arrived == of_communicator.size;
    if (!graph::has_root(op.kind)) {
      if (complete) {
        release_waiting(group, group.last_arrival, group.last);
        start({rank, lane}, group.last_arrival, group.last);
      } else {
        group.waiting.push_back({rank, lane});
      }
    } else if (job_.communicators[communicator].ranks[static_cast<size_t>(op.root)] == rank) {
      group.root_arrived = true;
      group.root_arrival = at.arrival;
      group.root_place = {rank, lane};
      release_waiting(group, at.arrival, rank);
      if (op.kind == Kind::Broadcast) {
        finish(rank, lane, at.arrival + state_.ranks[rank].durations[op.node]);
      }
    } else if (group.root_arrived) {
      start({rank, lane}, std::max(at.arrival, group.root_arrival), group.root_place.rank);
    } else {
      group.waiting.push_back({rank, lane});
    }
    if (!complete) {
      need_members(communicator, of_communicator);
    } else {
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
    Window<GroupEntry>& window = groups_of_[communicator].open;
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
    const Rank peer = sends ? channel.destination : channel.source;
    Window<Message>& window = messages_of_[id];
    const uint32_t n = messages.nth_of_part[index];
    Message& message = window.open(n);
    if (message.state == Message::Nothing) {
      message.state = !sends ? Message::RecvWaits : eager ? Message::EagerSent : Message::SendWaits;
      message.arrival = arrival;
      ++open_messages_;
      need(peer);
      return;
    }
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
    observer_->waited(p.rank, compiled.op(place), late, begin - arrival);
    at.parts_end = std::max(at.parts_end, begin + state_.ranks[p.rank].parts[p.part]);
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

  bool all_done() const {
    for (const RankState& rank : state_.ranks) {
      for (size_t lane = 0; lane < rank.compiled->lanes.size(); ++lane) {
        if (rank.lanes[lane].cursor != rank.compiled->lanes[lane].op_count) {
          return false;
        }
      }
    }
    return true;
  }

  void finish_result() {
    for (const LaneState& lane : state_.lanes) {
      result_.nodes += lane.cursor;
      result_.end = std::max(result_.end, lane.end);
    }
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
    observer_->finish();
  }

  const graph::Job& job_;
  const ReplayOptions& options_;
  Others& others_;
  State state_;
  uint32_t iterations_ = 0;
  uint32_t last_iteration_ = 0;

  typename Others::Work work_;    ///< lanes that may be able to go on
  std::vector<RankLane> halted_;  ///< lanes that are far enough ahead
  std::vector<bool> begun_;       ///< by rank
  std::vector<Rank> needed_ranks_;
  std::vector<uint32_t> needed_communicators_;
  Rank next_rank_ = 0;  ///< those before have begun
  std::vector<CommunicatorState> groups_of_;
  std::vector<Group> groups_;
  std::vector<uint32_t> free_groups_;
  std::vector<Window<Message>> messages_of_;  ///< by channel
  std::vector<MailboxState> mailboxes_;
  std::set<Candidate> candidates_;

  uint64_t open_groups_ = 0;
  uint64_t open_messages_ = 0;
  Status failure_;
  ReplayResult result_;
  std::optional<Observer> observer_;
};

}  // namespace

Result<ReplayResult> replay(const graph::Job& job, const ReplayOptions& options) {
  return replay(job, {}, options);
}

Result<ReplayResult> replay(const graph::Job& job, const graph::Times& times,
                            const ReplayOptions& options) {
  PRISM_TRY_ASSIGN(const graph::Messages messages, graph::connect_messages(job));
  NobodyOutside nobody;
  return options.analyse
             ? Engine<Analysis, NobodyOutside>(job, times, messages, options, nobody).run()
             : Engine<NoAnalysis, NobodyOutside>(job, times, messages, options, nobody).run();
}

Result<WallClockResult> replay_on_clock(const graph::Job& job, const graph::Times& times,
                                        const Outside& outside, const WallClockOptions& options) {
  PRISM_TRY_ASSIGN(const graph::Messages messages, graph::connect_messages(job));
  ReplayOptions plain;
  plain.eager_bytes = options.eager_bytes;
  plain.record = options.record;
  OutsideRanks others(outside, options);
  Engine<NodeRecorder, OutsideRanks> engine(job, times, messages, plain, others);
  WallClockResult result;
  PRISM_TRY_ASSIGN(result.replay, engine.run());
  result.report = others.report();
  return result;
}

}  // namespace prism::replay
