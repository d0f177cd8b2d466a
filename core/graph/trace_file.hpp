// SPDX-License-Identifier: Apache-2.0
/// The file of a PrismTrace; docs/prismtrace.md specifies it.
///
/// Files are untrusted: all that the model promises is checked of what is read (of a job all that
/// graph::instantiate guarantees; whether its ranks fit together is graph::check's), and what a
/// file claims to need in memory is bounded by its size. Errors name the file, the section, where
/// it is and what was expected.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/status.hpp"
#include "core/graph/file/job_codec.hpp"
#include "core/graph/file/program_sections.hpp"
#include "core/graph/file/sample_codec.hpp"
#include "core/graph/file/section_file.hpp"
#include "core/graph/trace.hpp"

namespace prism::graph {

using file::Storage;

/// Replaces the file; readers see the old content or the new one. The trace is checked as by a
/// reader before anything is written: errors of it, and of the file system.
Status write_trace(const std::string& path, const Trace& trace,
                   Storage storage = Storage::Compressed);

/// Appends samples of an iteration kind. A process that is killed meanwhile, or a full disk, leaves
/// a file that is read without them. One writer at a time: another is refused while it is at work.
/// What an append that was cut off has left at the end is removed.
Status append_samples(const std::string& path, uint32_t kind, const std::vector<Sample>& samples);

/// All of it. That the end of the file was left out (TraceFile::recovery) is in the notes.
Result<Trace> read_trace(const std::string& path);

enum class FileContent : uint8_t {
  Other,        ///< no .prism file, or of a version or content that is not known
  Trace,        ///< read_trace
  Observation,  ///< calibrate::read_observation
};
/// Looks at the first bytes. Errors: the file cannot be read.
Result<FileContent> content_of_file(const std::string& path);

/// Reads what is asked for and no more: of 1 rank of 8,192 its times, those that they refer to, and
/// the directory. Not thread-safe: open one for each thread.
class TraceFile {
 public:
  static Result<TraceFile> open(const std::string& path);

  const std::string& origin() const { return origin_; }
  const std::vector<std::string>& notes() const { return notes_; }
  const std::vector<Rank>& times_from() const { return times_from_; }
  /// What was left out because an append was cut off, in words; empty: nothing.
  const std::string& recovery() const { return file_.recovery(); }

  uint32_t kind_count() const { return static_cast<uint32_t>(kinds_.size()); }
  /// The others take `kind` < kind_count(), `sample` < sample_count(kind), ranks of the job;
  /// anything else is an error that says so.
  uint32_t sample_count(uint32_t kind) const;

  /// A kind without its samples.
  Result<IterationKind> kind(uint32_t kind);
  /// The program of the class of a rank: the recorded one, of the class's representative.
  Result<Program> program(uint32_t kind, Rank rank);
  Result<Sample> sample(uint32_t kind, uint32_t sample);
  /// Of one rank. Columns are empty where the times of its program hold.
  Result<RankTimes> rank_times(uint32_t kind, uint32_t sample, Rank rank);

  /// From the file so far.
  uint64_t bytes_read() const { return file_.bytes_read(); }

 private:
  friend Result<Trace> read_trace(const std::string& path);
  friend Status append_samples(const std::string& path, uint32_t kind,
                               const std::vector<Sample>& samples);

  explicit TraceFile(file::SectionFile section_file) : file_(std::move(section_file)) {}

  std::string where(const std::string& what) const;
  Status check_range(uint32_t kind, uint32_t sample, Rank rank) const;
  Status read_contents();
  Status read_program(const file::ClassShape& its, Program& program, file::ProgramReader& reader);
  Result<IterationKind> read_kind(uint32_t kind, file::ProgramReader& programs,
                                  file::MemoryBudget& budget);
  Result<file::SampleHead> read_sample_head(uint32_t kind, uint32_t sample,
                                            file::MemoryBudget& budget);
  /// The last one that was asked for is kept.
  Result<const file::TimesReference*> reference(const file::SectionKey& key,
                                                file::MemoryBudget& budget);
  Status read_set(const file::SectionKey& key, const file::SampleHead& head, RankTimes& times,
                  file::MemoryBudget& budget);
  Result<Sample> read_sample(uint32_t kind, uint32_t sample, file::MemoryBudget& budget);

  file::SectionFile file_;
  std::string origin_;
  std::vector<std::string> notes_;
  std::vector<Rank> times_from_;
  std::vector<file::KindShape> kinds_;
  file::SectionKey known_reference_key_;
  file::TimesReference known_reference_;
};

}  // namespace prism::graph
