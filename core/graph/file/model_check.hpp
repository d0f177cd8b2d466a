// SPDX-License-Identifier: Apache-2.0
/// Whether what a file says is a job and its times: what graph::instantiate guarantees of a job is
/// checked of one that was not made by it. Checked when a file is read, and before it is written.
#pragma once

#include <string>

#include "core/base/status.hpp"
#include "core/graph/file/job_codec.hpp"
#include "core/graph/job.hpp"
#include "core/graph/trace.hpp"

namespace prism::graph::file {

/// graph::validate, and labels.
Status check_program(const Program& program, const std::string& where);

/// Programs, classes, communicators, the table and the peers of messages. `where` begins all
/// messages. Whether ranks fit together is graph::check's.
Status check_job(const Job& job, const std::string& where);

/// Whether columns of a rank have the length of its program, or are empty.
Status check_times_of_rank(const RankTimes& times, const ClassShape& its, Rank rank,
                           const std::string& where);
/// The same of all ranks; `kind` has class_of.
Status check_times(const Times& times, const KindShape& kind, const std::string& where);

/// Counted iterations are below those of the job.
Status check_counted(const IterationKind& kind, const std::string& where);
/// By rank a rank, or kNone; or empty.
Status check_times_from(const std::vector<Rank>& times_from, uint32_t world_size,
                        const std::string& where);

}  // namespace prism::graph::file
