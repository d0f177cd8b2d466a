// SPDX-License-Identifier: Apache-2.0
/// Writes sections one after the other, then the directory of them and the trailer.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/descriptor.hpp"
#include "core/base/status.hpp"
#include "core/graph/file/encoder.hpp"
#include "core/graph/file/format.hpp"

struct ZSTD_CCtx_s;

namespace prism::graph::file {

/// One block of a file: sections, directory, trailer. Not thread-safe.
class SectionWriter {
 public:
  /// Writes where `fd` stands, which is byte `offset` of the file `path`. `previous_trailer` is the
  /// offset of the trailer of the block before; 0: there is none.
  SectionWriter(const Descriptor& fd, std::string path, uint64_t offset, uint64_t previous_trailer,
                Storage storage);

  /// The header of a new file.
  void begin(uint32_t content);
  /// `memory`: what a reader needs for the section beside what the encoder has counted.
  Status add(const SectionKey& key, const Encoder& content, uint64_t memory = 0);
  /// What a reader needs for one more use of a section.
  void used_again(uint64_t memory) { memory_ += memory; }
  /// Directory and trailer. The sections are on disk before the trailer is written, so that a
  /// trailer that is there speaks of what is there.
  Status finish();

 private:
  Status add_bytes(const SectionKey& key, const std::string& raw, const std::vector<size_t>& cuts);
  void compress(const std::string& raw, const std::vector<size_t>& cuts, std::string& out);
  Status put(std::string_view bytes);
  Status flush();
  Status pad();

  const Descriptor& fd_;
  std::string path_;
  uint64_t begin_;
  uint64_t offset_;
  uint64_t previous_trailer_;
  Storage storage_;
  uint64_t memory_ = 0;
  std::string buffer_;
  std::string compressed_;
  std::vector<Section> sections_;
  std::unique_ptr<ZSTD_CCtx_s, size_t (*)(ZSTD_CCtx_s*)> zstd_;
};

/// Replaces the file `path` by one that `write` fills from its header to `finish`.
Status replace_with_sections(const std::string& path, Storage storage,
                             const std::function<Status(SectionWriter&)>& write);

}  // namespace prism::graph::file
