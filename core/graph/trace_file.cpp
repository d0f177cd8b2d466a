// SPDX-License-Identifier: Apache-2.0
#include "core/graph/trace_file.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/graph/file/contents_codec.hpp"
#include "core/graph/file/model_check.hpp"

namespace prism::graph {

using file::ClassShape;
using file::Decoder;
using file::KindShape;
using file::MemoryBudget;
using file::ProgramReader;
using file::SampleHead;
using file::SectionFile;
using file::SectionKey;
using file::SectionType;
using file::TimesReference;

Result<TraceFile> TraceFile::open(const std::string& path) {
  PRISM_TRY_ASSIGN(SectionFile opened, SectionFile::open(path, file::kContentTrace));
  TraceFile trace(std::move(opened));
  PRISM_TRY(trace.read_contents());
  return trace;
}

Status TraceFile::read_contents() {
  MemoryBudget budget = file_.budget();
  file::Contents contents;
  PRISM_TRY(file_.read({SectionType::Contents, 0, 0, 0}, budget,
                       [&](Decoder& from) { file::code_contents(from, contents); }));
  origin_ = std::move(contents.origin);
  notes_ = std::move(contents.notes);
  times_from_ = std::move(contents.times_from);
  if (contents.kinds > file_.section_count()) {
    return file_.bad("says that it holds " + std::to_string(contents.kinds) +
                     " kinds of iterations, of which it has fewer sections");
  }
  kinds_.resize(contents.kinds);
  for (uint32_t k = 0; k < kinds_.size(); ++k) {
    PRISM_TRY(file_.read({SectionType::Job, k, 0, 0}, budget,
                         [&](Decoder& from) { file::decode_kind(from, kinds_[k]); }));
    if (kinds_[k].world_size != kinds_[0].world_size) {
      return file_.bad("holds jobs of " + std::to_string(kinds_[0].world_size) + " and of " +
                       std::to_string(kinds_[k].world_size) + " ranks");
    }
  }
  return file::check_times_from(times_from_, kinds_.empty() ? 0 : kinds_[0].world_size,
                                where("contents"));
}

std::string TraceFile::where(const std::string& what) const {
  return "'" + file_.path() + "', " + what;
}

uint32_t TraceFile::sample_count(uint32_t kind) const {
  return file_.count(SectionType::Sample, kind);
}

Status TraceFile::check_range(uint32_t kind, uint32_t sample, Rank rank) const {
  const auto no = [&](const std::string& what, uint64_t number, uint64_t count) {
    return run_error("'" + file_.path() + "' has no " + what + " " + std::to_string(number) +
                         ", expected below " + std::to_string(count),
                     Code::OutOfRange);
  };
  if (kind >= kinds_.size()) {
    return no("iteration kind", kind, kinds_.size());
  }
  if (sample != kNone && file_.find({SectionType::Sample, kind, sample, 0}) == nullptr) {
    return no("sample", sample, sample_count(kind));
  }
  if (rank != kNone && rank >= kinds_[kind].world_size) {
    return no("rank", rank, kinds_[kind].world_size);
  }
  return {};
}

Status TraceFile::read_program(const ClassShape& its, Program& program, ProgramReader& reader) {
  PRISM_TRY(reader.structure(its.structure, program));
  PRISM_TRY(reader.communicators(its.communicators, program));
  if (program.nodes.size() != its.nodes || program.parts.size() != its.parts ||
      program.communicators.size() != its.slots) {
    return file_.bad("says that a class has " + std::to_string(its.nodes) + " nodes, " +
                     std::to_string(its.parts) + " parts and " + std::to_string(its.slots) +
                     " communicators, but its program has " + std::to_string(program.nodes.size()) +
                     ", " + std::to_string(program.parts.size()) + " and " +
                     std::to_string(program.communicators.size()));
  }
  PRISM_TRY(reader.own_times(its.own_times, program));
  program.rank = its.members[its.representative];
  return {};
}

Result<IterationKind> TraceFile::read_kind(uint32_t kind, ProgramReader& programs,
                                           MemoryBudget& budget) {
  const KindShape& shape = kinds_[kind];
  IterationKind result;
  result.counted = shape.counted;
  result.difference = shape.difference;
  Job& job = result.job;
  job.world_size = shape.world_size;
  job.classes.resize(shape.classes.size());  // programs that were read stay where they are
  for (size_t c = 0; c < job.classes.size(); ++c) {
    const ClassShape& its = shape.classes[c];
    Class& to = job.classes[c];
    to.members = its.members;
    to.representative = its.representative;
    to.program.world_size = shape.world_size;
    PRISM_TRY(read_program(its, to.program, programs));
  }
  file::place_ranks(job);
  PRISM_TRY(file_.read({SectionType::Groups, kind, 0, 0}, budget,
                       [&](Decoder& from) { file::decode_groups(from, job); }));
  const std::string place = where("iteration kind " + std::to_string(kind));
  PRISM_TRY(file::check_job(job, place));
  PRISM_TRY(file::check_counted(result, place));
  return result;
}

Result<IterationKind> TraceFile::kind(uint32_t kind) {
  PRISM_TRY(check_range(kind, kNone, kNone));
  MemoryBudget budget = file_.budget();
  ProgramReader programs(file_, budget);
  return read_kind(kind, programs, budget);
}

Result<Program> TraceFile::program(uint32_t kind, Rank rank) {
  PRISM_TRY(check_range(kind, kNone, rank));
  MemoryBudget budget = file_.budget();
  ProgramReader programs(file_, budget);
  const KindShape& shape = kinds_[kind];
  Program program;
  program.world_size = shape.world_size;
  PRISM_TRY(read_program(shape.classes[shape.class_of[rank]], program, programs));
  PRISM_TRY(file::check_program(program, where("iteration kind " + std::to_string(kind))));
  return program;
}

Result<SampleHead> TraceFile::read_sample_head(uint32_t kind, uint32_t sample,
                                               MemoryBudget& budget) {
  SampleHead head;
  PRISM_TRY(file_.read({SectionType::Sample, kind, sample, 0}, budget,
                       [&](Decoder& from) { file::decode_sample_head(from, head); }));
  const uint32_t ranks = kinds_[kind].world_size;
  if (!head.set_of.empty() && head.set_of.size() != ranks) {
    return file_.bad("has a sample of " + std::to_string(head.set_of.size()) + " ranks, expected " +
                     std::to_string(ranks));
  }
  for (const uint32_t set : head.set_of) {
    if (set != kNone && set >= head.reference_of.size()) {
      return file_.bad("has a sample that speaks of set " + std::to_string(set) + " of " +
                       std::to_string(head.reference_of.size()));
    }
  }
  return head;
}

Result<const TimesReference*> TraceFile::reference(const SectionKey& key, MemoryBudget& budget) {
  if (known_reference_key_ != key) {
    RankTimes times;
    PRISM_TRY(file_.read(key, budget, [&](Decoder& from) { file::decode_times(from, times, {}); }));
    known_reference_ = file::reference_of(times);
    known_reference_key_ = key;
  }
  return &known_reference_;
}

Status TraceFile::read_set(const SectionKey& key, const SampleHead& head, RankTimes& times,
                           MemoryBudget& budget) {
  static const TimesReference kNoReference;
  const TimesReference* its = &kNoReference;
  const uint32_t number = head.reference_of[key.c];
  if (number != kNone) {
    PRISM_TRY_ASSIGN(its, reference({SectionType::Reference, key.a, key.b, number}, budget));
  }
  return file_.read(key, budget, [&](Decoder& from) { file::decode_times(from, times, *its); });
}

Result<Sample> TraceFile::read_sample(uint32_t kind, uint32_t sample, MemoryBudget& budget) {
  PRISM_TRY_ASSIGN(SampleHead head, read_sample_head(kind, sample, budget));
  Sample result{head.iteration, head.repeat, {}};
  Times& times = result.times;
  times.sets.resize(head.reference_of.size());
  times.set_of = std::move(head.set_of);
  // The sets of a reference together: it is read once.
  std::vector<uint32_t> order(times.sets.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return head.reference_of[a] < head.reference_of[b];
  });
  for (const uint32_t set : order) {
    PRISM_TRY(read_set({SectionType::Times, kind, sample, set}, head, times.sets[set], budget));
  }
  PRISM_TRY(file::check_times(
      times, kinds_[kind],
      where("sample " + std::to_string(sample) + " of iteration kind " + std::to_string(kind))));
  return result;
}

Result<Sample> TraceFile::sample(uint32_t kind, uint32_t sample) {
  PRISM_TRY(check_range(kind, sample, kNone));
  MemoryBudget budget = file_.budget();
  return read_sample(kind, sample, budget);
}

Result<RankTimes> TraceFile::rank_times(uint32_t kind, uint32_t sample, Rank rank) {
  PRISM_TRY(check_range(kind, sample, rank));
  MemoryBudget budget = file_.budget();
  PRISM_TRY_ASSIGN(const SampleHead head, read_sample_head(kind, sample, budget));
  RankTimes times;
  const uint32_t set = head.set_of.empty() ? kNone : head.set_of[rank];
  if (set == kNone) {
    return times;
  }
  PRISM_TRY(read_set({SectionType::Times, kind, sample, set}, head, times, budget));
  const KindShape& shape = kinds_[kind];
  PRISM_TRY(file::check_times_of_rank(times, shape.classes[shape.class_of[rank]], rank,
                                      where("sample " + std::to_string(sample))));
  return times;
}

Result<Trace> read_trace(const std::string& path) {
  PRISM_TRY_ASSIGN(TraceFile file, TraceFile::open(path));
  Trace trace;
  trace.origin = file.origin();
  trace.notes = file.notes();
  trace.times_from = file.times_from();
  if (!file.recovery().empty()) {
    trace.notes.push_back(file.recovery());
  }
  MemoryBudget budget = file.file_.budget();
  trace.kinds.reserve(file.kind_count());
  for (uint32_t k = 0; k < file.kind_count(); ++k) {
    // Programs of earlier kinds must stay where they are to be copied from, so each kind reads its
    // own: kinds differ, or they would be one.
    ProgramReader programs(file.file_, budget);
    PRISM_TRY_ASSIGN(IterationKind kind, file.read_kind(k, programs, budget));
    const uint32_t samples = file.sample_count(k);
    kind.samples.reserve(samples);
    for (uint32_t s = 0; s < samples; ++s) {
      PRISM_TRY_ASSIGN(Sample sample, file.read_sample(k, s, budget));
      kind.samples.push_back(std::move(sample));
    }
    trace.kinds.push_back(std::move(kind));
  }
  return trace;
}

Result<FileContent> content_of_file(const std::string& path) {
  PRISM_TRY_ASSIGN(const uint32_t content, file::content_of(path));
  return content == file::kContentTrace         ? FileContent::Trace
         : content == file::kContentObservation ? FileContent::Observation
                                                : FileContent::Other;
}

}  // namespace prism::graph
