// SPDX-License-Identifier: Apache-2.0
/// The one link model: how long a transfer takes when nobody waits for anybody.
///
/// A message of b bytes takes   latency + per_message + ceil(b / bandwidth);
/// m messages sent one after the other without waiting for answers, b bytes in all,
///   t(m, b) = latency + m * per_message + ceil(b / bandwidth).
/// Reducing b bytes takes       r(b) = ceil(b / reduce_bandwidth),
/// copying them to fresh memory c(b) = ceil(b / copy_bandwidth).
/// Collectives are closed forms of the algorithms that gloo and NCCL use, in t, r and c; each is
/// documented at its function with its source. All arithmetic is on integers (128 bits inside,
/// every division rounded up), so that another implementation can equal it in nanoseconds; results
/// saturate at kLongest. Header-only, no state, any thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "prism/abi/comm.h"

namespace prism::link {

/// Figures of a link. A bandwidth of 0 means that the bytes cost nothing.
struct Link {
  int64_t latency_ns = 0;
  uint64_t bandwidth_Bps = 0;         ///< bytes per second and direction
  int64_t per_message_ns = 0;         ///< what a sender's core or card spends on each message
  uint64_t reduce_bandwidth_Bps = 0;  ///< input bytes per second that a member can reduce
  uint64_t copy_bandwidth_Bps = 0;    ///< bytes per second that a member can copy to fresh memory
  bool operator==(const Link&) const = default;
};

/// About 36 years.
inline constexpr int64_t kLongest = int64_t{1} << 60;

namespace detail {

__extension__ using Wide = unsigned __int128;

constexpr uint64_t ceil_div(uint64_t a, uint64_t b) {
  return a / b + (a % b != 0 ? 1 : 0);
}
constexpr Wide bytes_time(uint64_t bytes, uint64_t bytes_per_second) {
  if (bytes_per_second == 0) {
    return 0;
  }
  const Wide nanoseconds = Wide{bytes} * 1'000'000'000;
  return (nanoseconds + bytes_per_second - 1) / bytes_per_second;
}
constexpr int64_t saturate(Wide nanoseconds) {
  return nanoseconds > Wide{kLongest} ? kLongest : static_cast<int64_t>(nanoseconds);
}
constexpr Wide nonnegative(int64_t value) {
  return value < 0 ? 0 : static_cast<Wide>(value);
}
/// t(m, b) of the head comment.
constexpr Wide messages(const Link& link, uint64_t count, uint64_t bytes) {
  return nonnegative(link.latency_ns) + count * nonnegative(link.per_message_ns) +
         bytes_time(bytes, link.bandwidth_Bps);
}
/// r(b) of the head comment.
constexpr Wide reduction(const Link& link, uint64_t bytes) {
  return bytes_time(bytes, link.reduce_bandwidth_Bps);
}
/// c(b) of the head comment.
constexpr Wide copying(const Link& link, uint64_t bytes) {
  return bytes_time(bytes, link.copy_bandwidth_Bps);
}
constexpr uint64_t log2_ceil(uint64_t n) {
  uint64_t steps = 0;
  while ((uint64_t{1} << steps) < n) {
    ++steps;
  }
  return steps;
}

/// gloo allreduce.cc and reduce.cc cut the part of a rank into at least two segments of at most
/// 1 MiB (kMaxSegmentSize), each of which is a message.
constexpr uint64_t gloo_segments(uint64_t bytes, uint64_t members) {
  const uint64_t segments = ceil_div(ceil_div(bytes, 1U << 20U), members);
  return segments < 2 ? 2 : segments;
}

/// gloo/allreduce.cc ring(), the default: K-1 steps reduce-scatter, K-1 steps all-gather, each of
/// ceil(n/K) bytes; a received part is reduced in each step of the first phase. Empty: nothing.
///   2(K-1) t(S, ceil(n/K)) + (K-1) r(ceil(n/K)),  S = gloo_segments
constexpr Wide gloo_all_reduce(const Link& link, uint64_t members, uint64_t bytes) {
  if (bytes == 0) {
    return 0;
  }
  const uint64_t part = ceil_div(bytes, members);
  return (members - 1) *
         (2 * messages(link, gloo_segments(bytes, members), part) + reduction(link, part));
}

/// The bytes of a rank that leave it when each of K members has an equal share.
constexpr uint64_t shares_of_others(uint64_t bytes, uint64_t members) {
  return bytes - bytes / members;
}

/// Of a root that talks to all others and of the others, which talk to it alone.
///   root: t(K-1, bytes of the others); other: t(1, own bytes)
constexpr Wide star(const Link& link, uint64_t members, bool root, uint64_t root_bytes,
                    uint64_t own_bytes) {
  return root ? messages(link, members - 1, shares_of_others(root_bytes, members))
              : messages(link, 1, own_bytes);
}

constexpr Wide gloo(const Link& link, int32_t kind, uint64_t members, uint64_t input,
                    uint64_t output) {
  const uint64_t larger = input > output ? input : output;
  switch (kind) {
    case PRISM_COMM_ALL_REDUCE:
      return gloo_all_reduce(link, members, larger);
    // torch ProcessGroupGloo.cpp: reduce_scatter_tensor_coalesced() all-reduces a copy of the whole
    // input.
    case PRISM_COMM_REDUCE_SCATTER:
      return gloo_all_reduce(link, members, input) + copying(link, input);
    // gloo/allgather.cc: ring of K-1 steps, each part in two halves. Empty: nothing. torch gathers
    // into a flat tensor of its own, to which gloo copies the input, and copies that to the output.
    //   (K-1) t(2, ceil(output/K)) + c(input) + c(output)
    case PRISM_COMM_ALL_GATHER:
      return output == 0 ? 0
                         : (members - 1) * messages(link, 2, ceil_div(output, members)) +
                               copying(link, input) + copying(link, output);
    // gloo/alltoall.cc, alltoallv.cc: all K-1 messages are posted at once and share the rank's
    // link; equal shares assumed.   t(K-1, n - n/K)
    case PRISM_COMM_ALL_TO_ALL:
      return messages(link, members - 1, shares_of_others(larger, members));
    // gloo/barrier.cc: dissemination.   ceil(log2 K) t(1, 0)
    case PRISM_COMM_BARRIER:
      return log2_ceil(members) * messages(link, 1, 0);
    // gloo/broadcast.cc: binomial tree; the last leaf.   ceil(log2 K) t(1, n)
    case PRISM_COMM_BROADCAST:
      return log2_ceil(members) * messages(link, 1, larger);
    // gloo/scatter.cc: the root has the larger input.
    case PRISM_COMM_SCATTER:
      return star(link, members, input > output, input, output);
    // gloo/gather.cc: the root has the larger output.
    case PRISM_COMM_GATHER:
      return star(link, members, output > input, output, input);
    // gloo/reduce.cc: ring reduce-scatter, then all parts go to the root, which has an output.
    //   (K-1) (t(S, ceil(n/K)) + r(ceil(n/K))) + star
    case PRISM_COMM_REDUCE: {
      if (larger == 0) {
        return 0;
      }
      const uint64_t part = ceil_div(larger, members);
      return (members - 1) *
                 (messages(link, gloo_segments(larger, members), part) + reduction(link, part)) +
             star(link, members, output != 0, larger, part);
    }
    default:
      return 0;
  }
}

/// NCCL, ring algorithm (nccl-tests PERFORMANCE.md; NCCL src/graph/tuning.cc): steps of
/// ceil(n/K) bytes; broadcast and reduce are pipelined through the ring.
constexpr Wide nccl(const Link& link, int32_t kind, uint64_t members, uint64_t input,
                    uint64_t output) {
  const uint64_t larger = input > output ? input : output;
  const uint64_t steps = members - 1;
  switch (kind) {
    // torch ProcessGroupNCCL.cpp: a barrier is an all-reduce of one float.
    case PRISM_COMM_BARRIER:
    //   2(K-1) t(1, ceil(n/K)) + (K-1) r(ceil(n/K))
    case PRISM_COMM_ALL_REDUCE: {
      const uint64_t part = ceil_div(kind == PRISM_COMM_BARRIER ? 4 : larger, members);
      return steps * (2 * messages(link, 1, part) + reduction(link, part));
    }
    //   (K-1) (t(1, ceil(input/K)) + r(ceil(input/K)))
    case PRISM_COMM_REDUCE_SCATTER: {
      const uint64_t part = ceil_div(input, members);
      return steps * (messages(link, 1, part) + reduction(link, part));
    }
    //   (K-1) t(1, ceil(output/K))
    case PRISM_COMM_ALL_GATHER:
      return steps * messages(link, 1, ceil_div(output, members));
    // Grouped sends and receives.   t(K-1, n - n/K)
    case PRISM_COMM_ALL_TO_ALL:
      return messages(link, steps, shares_of_others(larger, members));
    //   (K-1) t(1, 0) + n / bandwidth
    case PRISM_COMM_BROADCAST:
      return steps * messages(link, 1, 0) + bytes_time(larger, link.bandwidth_Bps);
    //   (K-1) t(1, 0) + n / bandwidth + r(n)
    case PRISM_COMM_REDUCE:
      return steps * messages(link, 1, 0) + bytes_time(larger, link.bandwidth_Bps) +
             reduction(link, larger);
    // Grouped sends and receives (torch/csrc/cuda/nccl.cpp); who is the root as for gloo.
    case PRISM_COMM_SCATTER:
      return star(link, members, input > output, input, output);
    case PRISM_COMM_GATHER:
      return star(link, members, output > input, output, input);
    default:
      return 0;
  }
}

}  // namespace detail

/// Time of one message, latency included.
constexpr int64_t message_duration(const Link& link, uint64_t bytes) {
  return detail::saturate(detail::messages(link, 1, bytes));
}

/// Pure transfer time of one member's part in a collective (`kind`: PRISM_COMM_ALL_REDUCE to
/// PRISM_COMM_GATHER), once all whom it needs have arrived. `input_bytes` is what this member
/// contributes, `output_bytes` what it gets. Backends other than "nccl" are taken as gloo. A group
/// of one takes no time.
constexpr int64_t collective_duration(const Link& link, std::string_view backend, int32_t kind,
                                      uint32_t group_size, uint64_t input_bytes,
                                      uint64_t output_bytes) {
  if (group_size <= 1) {
    return 0;
  }
  return detail::saturate(backend == "nccl"
                              ? detail::nccl(link, kind, group_size, input_bytes, output_bytes)
                              : detail::gloo(link, kind, group_size, input_bytes, output_bytes));
}

}  // namespace prism::link
