// SPDX-License-Identifier: Apache-2.0
/// Synthetic training jobs of any size, to test and to measure with: a class for each pipeline
/// stage, the i-th members of all classes are replica i.
///
///   synthetic::Spec spec;
///   spec.tp = 8, spec.pp = 16, spec.dp = 64, spec.micro_batches = 64, spec.jitter = 0.05;
///   PRISM_TRY_ASSIGN(const graph::Job job, synthetic::make_job(spec));
///   const graph::Times times = synthetic::make_times(job, spec);
#pragma once

#include "core/graph/job.hpp"
#include "core/graph/times.hpp"
#include "core/graph/trace.hpp"
#include "tests/synthetic/spec.hpp"

namespace prism::synthetic {

/// Passes graph::check, and replays without ranks that wait for each other in a circle.
/// Errors: those of validate.
Result<graph::Job> make_job(const Spec& spec);

/// Of one rank in one run of the job. Each duration and gap of the kernels that compute and of the
/// CPU is multiplied by a number of its own: log-normal, mean 1, relative standard deviation
/// `spec.jitter`, the same for the same seed, run, rank and order of nodes. Transfers take what the
/// spec says: the members of a collective end together.
graph::RankTimes make_rank_times(const graph::Job& job, const Spec& spec, Rank rank, uint64_t run);

/// Of one run of the job. Every rank has times of its own where there is jitter, else only the
/// stragglers have.
graph::Times make_times(const graph::Job& job, const Spec& spec, uint64_t run = 0);

/// The job as it is known where one replica was measured in runs 0 .. runs - 1: all ranks of a
/// class share the times of its first. Errors: those of make_job.
Result<graph::Trace> make_trace(const Spec& spec, uint32_t runs);

}  // namespace prism::synthetic
