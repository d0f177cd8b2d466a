// SPDX-License-Identifier: Apache-2.0
/// Finds and reads the sections of a file, and believes nothing of what it reads.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/descriptor.hpp"
#include "core/base/status.hpp"
#include "core/graph/file/decoder.hpp"
#include "core/graph/file/format.hpp"

struct ZSTD_DCtx_s;

namespace prism::graph::file {

/// An open file. Reads only what is asked for. Not thread-safe: open one for each thread.
class SectionFile {
 public:
  /// Reads header and directories. Errors: unreadable, not a .prism file, a newer major version,
  /// other content than `content` (kContent*; 0: any), no complete directory, a directory that
  /// cannot be.
  static Result<SectionFile> open(const std::string& path, uint32_t content);

  const std::string& path() const { return path_; }
  uint32_t content() const { return content_; }
  /// Where the last complete block ends; what follows is an append that was cut off.
  uint64_t end() const { return end_; }
  /// Says so; empty: the file is whole.
  const std::string& recovery() const { return recovery_; }
  uint64_t last_trailer() const { return end_ - kTrailerBytes; }
  /// The most memory that what the file holds may need.
  MemoryBudget budget() const { return MemoryBudget(kMemoryBase + size_ * kMemoryPerByte); }
  uint64_t bytes_read() const { return bytes_read_; }

  size_t section_count() const { return sections_.size(); }
  /// nullptr: there is none.
  const Section* find(const SectionKey& key) const;
  /// How many sections (key, 0 .. n - 1) there are: of samples.
  uint32_t count(SectionType type, uint32_t a) const;

  /// Reads a section and gives it to `decode`, which takes a Decoder and fills something; checks
  /// that all of it was used.
  template <typename Decode>
  Status read(const SectionKey& key, MemoryBudget& budget, Decode decode) {
    std::string where;
    std::string_view bytes;
    PRISM_TRY(load(key, budget, where, bytes));
    Decoder decoder(bytes, where, budget);
    decode(decoder);
    return decoder.finish();
  }

  /// An error of the file: "'PATH' WHAT".
  Status bad(const std::string& what) const;

 private:
  SectionFile(std::string path, Descriptor fd, uint64_t size);

  struct Trailer {
    uint64_t directory_offset = 0;
    uint64_t directory_bytes = 0;
    uint64_t directory_checksum = 0;
    uint64_t previous_trailer = 0;
  };
  /// The end of a block: its trailer and the directory that this speaks of.
  struct BlockEnd {
    Trailer trailer;
    std::string directory;
  };

  Status read_bytes(uint64_t offset, std::string& to, uint64_t size);
  Status read_header(uint32_t content);
  /// Whether a complete block ends with a trailer at `offset`; no error where none does.
  Result<bool> block_ends_at(uint64_t offset, BlockEnd& found);
  Result<bool> trailer_at(uint64_t offset, Trailer& trailer);
  Status find_end(BlockEnd& last);
  Status read_directories(BlockEnd last);
  Status add_sections(const BlockEnd& block);
  Status load(const SectionKey& key, const MemoryBudget& budget, std::string& where,
              std::string_view& bytes);
  /// From stored_ to raw_.
  Status decompress(const std::string& where, uint64_t raw_bytes, std::string_view& bytes);

  std::string path_;
  Descriptor fd_;
  uint64_t size_;
  uint32_t content_ = 0;
  uint64_t end_ = 0;
  std::string recovery_;
  uint64_t bytes_read_ = 0;
  std::vector<Section> sections_;  ///< ascending by key
  std::string stored_;
  std::string raw_;
  std::unique_ptr<ZSTD_DCtx_s, size_t (*)(ZSTD_DCtx_s*)> zstd_;
};

/// What the header of a file says (kContent*); 0: it is no .prism file that this version reads.
/// Errors: the file cannot be read.
Result<uint32_t> content_of(const std::string& path);

}  // namespace prism::graph::file
