// SPDX-License-Identifier: Apache-2.0
/// A job as sections: its classes, which name the sections of their programs, and its groups.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/status.hpp"
#include "core/graph/file/decoder.hpp"
#include "core/graph/file/encoder.hpp"
#include "core/graph/job.hpp"

namespace prism::graph::file {

/// What the section `job` says of a class: enough to place ranks and to check times.
struct ClassShape {
  std::vector<Rank> members;
  uint32_t representative = 0;
  uint32_t structure = 0;  ///< numbers of sections
  uint32_t communicators = 0;
  uint32_t own_times = 0;
  uint64_t nodes = 0;
  uint64_t parts = 0;
  uint64_t slots = 0;
};

/// A kind of iterations without its programs.
struct KindShape {
  uint32_t world_size = 0;
  std::vector<ClassShape> classes;
  std::vector<uint32_t> counted;
  std::string difference;
  std::vector<uint32_t> class_of;  ///< by rank; not stored
};

void encode_kind(Encoder& to, const KindShape& kind);
/// Also checks that the classes cover all ranks, and fills `class_of`.
void decode_kind(Decoder& from, KindShape& kind);

/// Communicators, and what each slot of each rank stands for. The classes of the job are there.
void encode_groups(Encoder& to, const Job& job);
void decode_groups(Decoder& from, Job& job);

/// class_of, index_of and first_slot of a job that has its classes.
void place_ranks(Job& job);

}  // namespace prism::graph::file
