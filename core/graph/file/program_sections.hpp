// SPDX-License-Identifier: Apache-2.0
/// The sections of programs: equal ones are written once and read once.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "core/base/status.hpp"
#include "core/graph/file/section_file.hpp"
#include "core/graph/file/section_writer.hpp"
#include "core/graph/program.hpp"

namespace prism::graph::file {

class ProgramWriter {
 public:
  explicit ProgramWriter(SectionWriter& writer) : writer_(writer) {}

  /// Each writes the section unless an equal one is there, and gives its number.
  Result<uint32_t> structure(const Program& program);
  Result<uint32_t> communicators(const Program& program);
  Result<uint32_t> own_times(const Program& program);

 private:
  /// By content.
  using Written = std::unordered_map<std::string, uint32_t>;
  Result<uint32_t> write(SectionType type, Written& written, const Encoder& content);

  SectionWriter& writer_;
  Written structures_;
  Written communicators_;
  Written own_times_;
};

/// Reads parts of programs into programs. What was read into one is copied into the next that has
/// the same number, as long as the first stays where it is.
class ProgramReader {
 public:
  ProgramReader(SectionFile& file, MemoryBudget& budget) : file_(file), budget_(budget) {}

  Status structure(uint32_t number, Program& to);
  Status communicators(uint32_t number, Program& to);
  /// After the structure.
  Status own_times(uint32_t number, Program& to);

 private:
  struct Known {
    const Program* program;
    uint64_t memory;
  };
  using Read = std::unordered_map<uint32_t, Known>;
  /// nullptr: not read yet. Takes the memory of a copy.
  Result<const Program*> known(const Read& read, const SectionKey& key);
  template <typename Decode>
  Status read(Read& read, const SectionKey& key, Program& to, Decode decode);

  SectionFile& file_;
  MemoryBudget& budget_;
  Read structures_;
  Read communicators_;
};

}  // namespace prism::graph::file
