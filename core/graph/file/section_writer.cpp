// SPDX-License-Identifier: Apache-2.0
#include "core/graph/file/section_writer.hpp"

#include <cerrno>
#include <fcntl.h>
#include <string_view>
#include <unistd.h>
#include <utility>
#include <zstd.h>

#include "core/base/file.hpp"
#include "core/graph/file/bytes.hpp"

namespace prism::graph::file {
namespace {

constexpr int kLevel = 3;
constexpr size_t kBufferBytes = size_t{1} << 20U;

void append_entry(std::string& out, const Section& section) {
  append_number(out, static_cast<uint16_t>(section.key.type));
  append_number(out, static_cast<uint16_t>(section.codec));
  append_number(out, section.key.a);
  append_number(out, section.key.b);
  append_number(out, section.key.c);
  append_number(out, section.offset);
  append_number(out, section.stored_bytes);
  append_number(out, section.raw_bytes);
  append_number(out, section.checksum);
}

}  // namespace

SectionWriter::SectionWriter(const Descriptor& fd, std::string path, uint64_t offset,
                             uint64_t previous_trailer, Storage storage)
    : fd_(fd),
      path_(std::move(path)),
      begin_(offset),
      offset_(offset),
      previous_trailer_(previous_trailer),
      storage_(storage),
      zstd_(ZSTD_createCCtx(), &ZSTD_freeCCtx) {
  PRISM_ASSERT(zstd_ != nullptr);
  ZSTD_CCtx_setParameter(zstd_.get(), ZSTD_c_compressionLevel, kLevel);
}

void SectionWriter::begin(uint32_t content) {
  std::string header(kFileMagic);
  append_number(header, kMajorVersion);
  append_number(header, kMinorVersion);
  append_number(header, content);
  append_number(header, uint64_t{0});
  append_number(header, checksum_of(header));
  buffer_ += header;
  offset_ += header.size();
}

Status SectionWriter::add(const SectionKey& key, const Encoder& content, uint64_t memory) {
  memory_ += content.memory() + memory;
  return add_bytes(key, content.bytes(), content.cuts());
}

Status SectionWriter::add_bytes(const SectionKey& key, const std::string& raw,
                                const std::vector<size_t>& cuts) {
  Section section{key, Codec::Plain, offset_, raw.size(), raw.size(), 0};
  std::string_view stored = raw;
  if (storage_ == Storage::Compressed) {
    compress(raw, cuts, compressed_);
    if (compressed_.size() < raw.size()) {
      section.codec = Codec::Zstd;
      stored = compressed_;
    }
  }
  section.stored_bytes = stored.size();
  section.checksum = checksum_of(stored);
  sections_.push_back(section);
  return put(stored);
}

/// One frame, whose blocks end at the cuts: zstd keeps statistics by block, and random low bytes
/// and regular high ones have different ones.
void SectionWriter::compress(const std::string& raw, const std::vector<size_t>& cuts,
                             std::string& out) {
  ZSTD_CCtx_reset(zstd_.get(), ZSTD_reset_session_only);
  ZSTD_CCtx_setPledgedSrcSize(zstd_.get(), raw.size());
  out.resize(ZSTD_compressBound(raw.size()) + 64 + 32 * cuts.size());
  ZSTD_outBuffer to{out.data(), out.size(), 0};
  ZSTD_inBuffer from{raw.data(), 0, 0};
  size_t left = 0;
  for (const size_t cut : cuts) {
    if (cut > from.pos) {
      from.size = cut;
      left = ZSTD_compressStream2(zstd_.get(), &to, &from, ZSTD_e_flush);
      PRISM_ASSERT(left == 0);  // there is room for all
    }
  }
  from.size = raw.size();
  left = ZSTD_compressStream2(zstd_.get(), &to, &from, ZSTD_e_end);
  PRISM_ASSERT(left == 0);
  out.resize(to.pos);
}

Status SectionWriter::put(std::string_view bytes) {
  buffer_ += bytes;
  offset_ += bytes.size();
  return buffer_.size() < kBufferBytes ? Status() : flush();
}

Status SectionWriter::flush() {
  PRISM_TRY(write_all(fd_, path_, buffer_));
  buffer_.clear();
  return {};
}

Status SectionWriter::pad() {
  const uint64_t base = previous_trailer_ == 0 ? kMemoryBase : 0;
  const uint64_t written = offset_ - begin_;
  if (memory_ <= base + written * kMemoryPerByte) {
    return {};
  }
  storage_ = Storage::Plain;
  const std::string zeros((memory_ - base) / kMemoryPerByte + 1 - written, '\0');
  return add_bytes({}, zeros, {});
}

Status SectionWriter::finish() {
  PRISM_TRY(pad());
  PRISM_TRY(flush());
  if (::fdatasync(fd_.get()) != 0) {
    return io_error("write", path_, errno);
  }
  std::string directory;
  directory.reserve(sections_.size() * kEntryBytes);
  for (const Section& section : sections_) {
    append_entry(directory, section);
  }
  std::string trailer;
  append_number(trailer, offset_);
  append_number(trailer, uint64_t{directory.size()});
  append_number(trailer, checksum_of(directory));
  append_number(trailer, previous_trailer_);
  trailer += kTrailerMagic;
  append_number(trailer, checksum_of(trailer));
  PRISM_TRY(put(directory));
  PRISM_TRY(put(trailer));
  PRISM_TRY(flush());
  if (::fsync(fd_.get()) != 0) {
    return io_error("write", path_, errno);
  }
  return {};
}

Status replace_with_sections(const std::string& path, Storage storage,
                             const std::function<Status(SectionWriter&)>& write) {
  return replace_file(path, [&](const std::string& unfinished) -> Status {
    const Descriptor fd(::open(unfinished.c_str(), O_WRONLY | O_CLOEXEC));
    if (fd.get() < 0) {
      return io_error("write", unfinished, errno);
    }
    SectionWriter writer(fd, unfinished, 0, 0, storage);
    return write(writer);
  });
}

}  // namespace prism::graph::file
