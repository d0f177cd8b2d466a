// SPDX-License-Identifier: Apache-2.0
/// The replay with ranks that run for real, outside: the engine of engine.hpp with the same rules,
/// on a clock that others live by too.
///
///   ArrivalQueue arrivals;                     // other threads push
///   SystemClock clock(steady_clock::now() + 100ms);
///   PRISM_TRY_ASSIGN(const WallClockResult result,
///                    replay_on_clock(job, times, {{0, 1}, arrivals, ends, clock}, {}));
///   result.report.lateness.quantile(0.99);     // ns
///
/// Of a rank outside the engine knows the communications. Each arrives when the outside says so and
/// ends, by its rule and its duration in `times`, at a time that is published to the outside when
/// it has come. What such a rank computes, and the gaps before its nodes, are its own.
///
/// Ranks that are not outside are replayed ahead of the clock, as far as `look_ahead`, so that an
/// end is known before it must be published. A recv from any source is given its message when the
/// clock has come to the time of the match and the outside was heard; a message of a rank outside
/// that is reported after that takes part from then on.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/status.hpp"
#include "core/graph/job.hpp"
#include "core/graph/times.hpp"
#include "core/replay/clock.hpp"
#include "core/replay/engine.hpp"
#include "core/replay/external_arrivals.hpp"
#include "core/replay/lateness.hpp"

namespace prism::replay {

/// Not owned; must live until the replay returns.
struct Outside {
  std::vector<Rank> ranks;
  ExternalArrivals& arrivals;
  CommunicationEnds& ends;
  Clock& clock;
};

struct WallClockOptions {
  /// As in ReplayOptions.
  uint64_t eager_bytes = 64 * 1024;
  std::vector<Rank> record;
  /// How far ranks are replayed ahead of the clock. More: the engine works in fewer and longer
  /// bursts, in which what becomes due has to wait for its turn.
  DurationNs look_ahead = 100'000;
  /// So long may the outside say nothing while the replay waits for it.
  DurationNs answer_timeout = 600'000'000'000;
};

struct WallClockReport {
  uint64_t arrivals = 0;  ///< from outside
  /// By published end: how long after it.
  Lateness lateness;
  /// Of these, ends that had passed before they could be known: the last arrival was reported too
  /// late, or the engine was behind.
  uint64_t known_too_late = 0;
  /// By arrival: how long after it the engine took it.
  Lateness arrival_delay;
};

struct WallClockResult {
  /// `iteration_end`, `iteration_time`, `end`, `nodes`, `recorded`; the rest is empty. What a rank
  /// outside computes is unknown: it has no part in the ends and 0 in `recorded`.
  ReplayResult replay;
  WallClockReport report;
};

/// Returns when all ranks have come to their end and all ends are published. One thread, which
/// waits as the clock does (SystemClock spins).
/// Errors: those of `replay`; a rank outside that does not exist; an arrival of a rank that is not
/// outside, at a node that is no communication or not the next one on its lane, before the end of
/// the communication before it or in the future; an outside that says nothing for
/// `answer_timeout` (DeadlineExceeded, with who is awaited).
Result<WallClockResult> replay_on_clock(const graph::Job& job, const graph::Times& times,
                                        const Outside& outside, const WallClockOptions& options);

}  // namespace prism::replay
