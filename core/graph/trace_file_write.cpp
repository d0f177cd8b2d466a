// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>
#include <utility>

#include "core/base/descriptor.hpp"
#include "core/base/file.hpp"
#include "core/graph/file/contents_codec.hpp"
#include "core/graph/file/model_check.hpp"
#include "core/graph/file/program_codec.hpp"
#include "core/graph/file/program_sections.hpp"
#include "core/graph/file/section_writer.hpp"
#include "core/graph/trace_file.hpp"

namespace prism::graph {
namespace {

using file::Encoder;
using file::KindShape;
using file::ProgramWriter;
using file::SectionFile;
using file::SectionType;
using file::SectionWriter;

std::string place_of(size_t kind) {
  return "iteration kind " + std::to_string(kind);
}

/// What a reader would refuse is not written.
Status check_kind(const IterationKind& kind, size_t number) {
  PRISM_TRY(file::check_job(kind.job, place_of(number)));
  for (const Class& c : kind.job.classes) {
    PRISM_TRY(file::check_order(c.program));
  }
  return file::check_counted(kind, place_of(number));
}

Status check_samples(const KindShape& kind, const std::vector<Sample>& samples, size_t number) {
  for (const Sample& sample : samples) {
    PRISM_TRY(file::check_times(sample.times, kind,
                                "a sample of " + place_of(number) + " that is to be written"));
  }
  return {};
}

Result<KindShape> write_programs(ProgramWriter& programs, const IterationKind& kind) {
  KindShape shape;
  shape.world_size = kind.job.world_size;
  shape.counted = kind.counted;
  shape.difference = kind.difference;
  shape.class_of = kind.job.class_of;
  shape.classes.reserve(kind.job.classes.size());
  for (const Class& c : kind.job.classes) {
    file::ClassShape& its = shape.classes.emplace_back();
    its.members = c.members;
    its.representative = c.representative;
    its.nodes = c.program.nodes.size();
    its.parts = c.program.parts.size();
    its.slots = c.program.communicators.size();
    PRISM_TRY_ASSIGN(its.structure, programs.structure(c.program));
    PRISM_TRY_ASSIGN(its.communicators, programs.communicators(c.program));
    PRISM_TRY_ASSIGN(its.own_times, programs.own_times(c.program));
  }
  return shape;
}

Status write_kind(SectionWriter& writer, ProgramWriter& programs, uint32_t number,
                  const IterationKind& kind) {
  PRISM_TRY(check_kind(kind, number));
  PRISM_TRY_ASSIGN(const KindShape shape, write_programs(programs, kind));
  PRISM_TRY(check_samples(shape, kind.samples, number));
  Encoder classes;
  file::encode_kind(classes, shape);
  PRISM_TRY(writer.add({SectionType::Job, number, 0, 0}, classes));
  Encoder groups;
  file::encode_groups(groups, kind.job);
  PRISM_TRY(writer.add({SectionType::Groups, number, 0, 0}, groups));
  for (uint32_t s = 0; s < kind.samples.size(); ++s) {
    PRISM_TRY(file::write_sample(writer, number, s, shape, kind.samples[s]));
  }
  return {};
}

Status write_sections(SectionWriter& writer, const Trace& trace) {
  writer.begin(file::kContentTrace);
  ProgramWriter programs(writer);
  for (uint32_t k = 0; k < trace.kinds.size(); ++k) {
    PRISM_TRY(write_kind(writer, programs, k, trace.kinds[k]));
  }
  const file::Contents contents{trace.origin, trace.notes,
                                static_cast<uint32_t>(trace.kinds.size()), trace.times_from};
  Encoder encoder;
  file::code_contents(encoder, contents);
  PRISM_TRY(writer.add({SectionType::Contents, 0, 0, 0}, encoder));
  return writer.finish();
}

}  // namespace

Status write_trace(const std::string& path, const Trace& trace, Storage storage) {
  const uint32_t ranks = trace.kinds.empty() ? 0 : trace.kinds.front().job.world_size;
  for (const IterationKind& kind : trace.kinds) {
    if (kind.job.world_size != ranks) {
      return run_error("cannot write '" + path + "': the kinds of iterations have jobs of " +
                       std::to_string(ranks) + " and of " + std::to_string(kind.job.world_size) +
                       " ranks");
    }
  }
  PRISM_TRY(file::check_times_from(trace.times_from, ranks, "the trace that is to be written"));
  return file::replace_with_sections(
      path, storage, [&](SectionWriter& writer) { return write_sections(writer, trace); });
}

Status append_samples(const std::string& path, uint32_t kind, const std::vector<Sample>& samples) {
  const Descriptor fd(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
  if (fd.get() < 0) {
    return io_error("append to", path, errno);
  }
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    return errno == EWOULDBLOCK
               ? run_error("cannot append to '" + path + "': another process is appending to it",
                           Code::Unavailable)
               : io_error("lock", path, errno);
  }
  // Read behind the lock: what others have appended is there.
  PRISM_TRY_ASSIGN(TraceFile trace, TraceFile::open(path));
  PRISM_TRY(trace.check_range(kind, kNone, kNone));
  PRISM_TRY(check_samples(trace.kinds_[kind], samples, kind));
  const uint32_t first = trace.sample_count(kind);
  const SectionFile& before = trace.file_;
  const uint64_t end = before.end();
  if (::ftruncate(fd.get(), static_cast<off_t>(end)) != 0 ||
      ::lseek(fd.get(), static_cast<off_t>(end), SEEK_SET) < 0) {
    return io_error("append to", path, errno);
  }
  SectionWriter writer(fd, path, end, before.last_trailer(), Storage::Compressed);
  Status status;
  for (uint32_t s = 0; s < samples.size() && status.ok(); ++s) {
    status = file::write_sample(writer, kind, first + s, trace.kinds_[kind], samples[s]);
  }
  if (status.ok()) {
    status = writer.finish();
  }
  if (!status.ok() && ::ftruncate(fd.get(), static_cast<off_t>(end)) != 0) {
    return std::move(status).context(
        "what was appended could not be removed; readers leave it out");
  }
  return status;
}

}  // namespace prism::graph
