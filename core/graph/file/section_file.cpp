// SPDX-License-Identifier: Apache-2.0
#include "core/graph/file/section_file.hpp"

#include <algorithm>
#include <utility>
#include <zstd.h>

#include "core/graph/file/bytes.hpp"

namespace prism::graph::file {
namespace {

constexpr uint64_t kMarkInTrailer = 32;  ///< where the mark stands
constexpr uint64_t kScanBytes = uint64_t{1} << 20U;
/// Bytes that look like a trailer and are none, before the file is given up.
constexpr int kMostFalseTrailers = 64;

const char* name_of_content(uint32_t content) {
  return content == kContentTrace         ? "a trace"
         : content == kContentObservation ? "an observation"
                                          : "content that this version does not know";
}

Section entry_at(const char* bytes) {
  Section section;
  section.key = {static_cast<SectionType>(number_at<uint16_t>(bytes)),
                 number_at<uint32_t>(bytes + 4), number_at<uint32_t>(bytes + 8),
                 number_at<uint32_t>(bytes + 12)};
  section.codec = static_cast<Codec>(number_at<uint16_t>(bytes + 2));
  section.offset = number_at<uint64_t>(bytes + 16);
  section.stored_bytes = number_at<uint64_t>(bytes + 24);
  section.raw_bytes = number_at<uint64_t>(bytes + 32);
  section.checksum = number_at<uint64_t>(bytes + 40);
  return section;
}

}  // namespace

SectionFile::SectionFile(std::string path, Descriptor fd, uint64_t size)
    : path_(std::move(path)), fd_(std::move(fd)), size_(size), zstd_(nullptr, &ZSTD_freeDCtx) {}

Result<SectionFile> SectionFile::open(const std::string& path, uint32_t content) {
  uint64_t size = 0;
  PRISM_TRY_ASSIGN(Descriptor fd, open_regular(path, size));
  SectionFile file(path, std::move(fd), size);
  PRISM_TRY(file.read_header(content));
  BlockEnd last;
  PRISM_TRY(file.find_end(last));
  PRISM_TRY(file.read_directories(std::move(last)));
  return file;
}

Status SectionFile::bad(const std::string& what) const {
  return run_error("'" + path_ + "' " + what, Code::DataLoss);
}

Status SectionFile::read_bytes(uint64_t offset, std::string& to, uint64_t size) {
  to.resize(size);
  bytes_read_ += size;
  return read_at(fd_, path_, offset, to.data(), size);
}

Status SectionFile::read_header(uint32_t content) {
  std::string header;
  PRISM_TRY(read_bytes(0, header, std::min(size_, kHeaderBytes)));
  if (header.substr(0, kFileMagic.size()) != kFileMagic) {
    return run_error("'" + path_ + "' is no .prism file: it does not begin with the mark of one",
                     Code::InvalidArgument);
  }
  if (header.size() < kHeaderBytes) {
    return bad("is cut off in its header: it has " + std::to_string(size_) + " bytes");
  }
  const std::string_view checked(header.data(), kHeaderBytes - 8);
  if (number_at<uint64_t>(header.data() + checked.size()) != checksum_of(checked)) {
    return bad("is damaged: the checksum of its header (byte 0) is wrong");
  }
  const auto major = number_at<uint16_t>(header.data() + 8);
  if (major != kMajorVersion) {
    const auto minor = number_at<uint16_t>(header.data() + 10);
    return run_error(
        "'" + path_ + "' has version " + std::to_string(major) + "." + std::to_string(minor) +
            " of the .prism format; this program reads version " + std::to_string(kMajorVersion) +
            "; use the program that wrote it or a newer one",
        Code::Unimplemented);
  }
  content_ = number_at<uint32_t>(header.data() + 12);
  if (content != 0 && content_ != content) {
    return run_error("'" + path_ + "' holds " + name_of_content(content_) + ", expected " +
                         name_of_content(content),
                     Code::InvalidArgument);
  }
  return {};
}

Result<bool> SectionFile::trailer_at(uint64_t offset, Trailer& trailer) {
  if (offset < kHeaderBytes || size_ < kTrailerBytes || offset > size_ - kTrailerBytes) {
    return false;
  }
  std::string bytes;
  PRISM_TRY(read_bytes(offset, bytes, kTrailerBytes));
  const std::string_view checked(bytes.data(), kTrailerBytes - 8);
  if (checked.substr(kMarkInTrailer) != kTrailerMagic ||
      number_at<uint64_t>(bytes.data() + checked.size()) != checksum_of(checked)) {
    return false;
  }
  trailer = {number_at<uint64_t>(bytes.data()), number_at<uint64_t>(bytes.data() + 8),
             number_at<uint64_t>(bytes.data() + 16), number_at<uint64_t>(bytes.data() + 24)};
  // The directory stands right before its trailer, and a block behind the one before.
  return trailer.directory_offset <= offset &&
         trailer.directory_bytes == offset - trailer.directory_offset &&
         trailer.directory_bytes % kEntryBytes == 0 && trailer.directory_offset >= kHeaderBytes &&
         (trailer.previous_trailer == 0 ||
          (trailer.previous_trailer >= kHeaderBytes &&
           trailer.previous_trailer <= trailer.directory_offset &&
           trailer.directory_offset - trailer.previous_trailer >= kTrailerBytes));
}

Result<bool> SectionFile::block_ends_at(uint64_t offset, BlockEnd& found) {
  PRISM_TRY_ASSIGN(const bool there, trailer_at(offset, found.trailer));
  if (!there) {
    return false;
  }
  PRISM_TRY(
      read_bytes(found.trailer.directory_offset, found.directory, found.trailer.directory_bytes));
  return checksum_of(found.directory) == found.trailer.directory_checksum;
}

Status SectionFile::find_end(BlockEnd& last) {
  if (size_ >= kTrailerBytes) {
    PRISM_TRY_ASSIGN(const bool whole, block_ends_at(size_ - kTrailerBytes, last));
    if (whole) {
      end_ = size_;
      return {};
    }
  }
  // Backwards, in pieces that overlap by less than the mark.
  const std::string_view mark = kTrailerMagic;
  std::string piece;
  int false_trailers = 0;
  for (uint64_t upper = size_; upper > kHeaderBytes && false_trailers < kMostFalseTrailers;) {
    const uint64_t lower = upper - std::min(kScanBytes, upper - kHeaderBytes);
    const uint64_t behind = std::min(size_, upper + mark.size() - 1);
    PRISM_TRY(read_bytes(lower, piece, behind - lower));
    for (size_t at = piece.rfind(mark); at != std::string::npos;
         at = at == 0 ? std::string::npos : piece.rfind(mark, at - 1)) {
      const uint64_t trailer = lower + at - std::min<uint64_t>(lower + at, kMarkInTrailer);
      PRISM_TRY_ASSIGN(const bool whole, block_ends_at(trailer, last));
      if (whole) {
        end_ = trailer + kTrailerBytes;
        recovery_ = "'" + path_ + "' was not written to its end: " + std::to_string(size_ - end_) +
                    " bytes that were appended last are left out";
        return {};
      }
      if (++false_trailers == kMostFalseTrailers) {
        break;
      }
    }
    upper = lower;
  }
  return bad("has no complete directory: it is cut off or damaged, or was never finished (" +
             std::to_string(size_) + " bytes)");
}

Status SectionFile::read_directories(BlockEnd last) {
  PRISM_TRY(add_sections(last));
  while (last.trailer.previous_trailer != 0) {
    const uint64_t at = last.trailer.previous_trailer;
    PRISM_TRY_ASSIGN(const bool whole, block_ends_at(at, last));
    if (!whole) {
      return bad("is damaged: the directory that ends at byte " + std::to_string(at) +
                 " is not what was written there");
    }
    PRISM_TRY(add_sections(last));
  }
  std::sort(sections_.begin(), sections_.end(),
            [](const Section& a, const Section& b) { return a.key < b.key; });
  // What is not known here may be there as often as it likes.
  const auto twice = std::adjacent_find(
      sections_.begin(), sections_.end(), [](const Section& a, const Section& b) {
        return a.key == b.key && a.key.type < SectionType::Padding;
      });
  if (twice != sections_.end()) {
    return bad("names the section " + describe(twice->key) + " twice, at bytes " +
               std::to_string(twice->offset) + " and " + std::to_string((twice + 1)->offset));
  }
  return {};
}

Status SectionFile::add_sections(const BlockEnd& block) {
  const auto& [trailer, directory] = block;
  const uint64_t begin =
      trailer.previous_trailer == 0 ? kHeaderBytes : trailer.previous_trailer + kTrailerBytes;
  sections_.reserve(sections_.size() + directory.size() / kEntryBytes);
  uint64_t free_from = begin;  // in order and apart, so that none is read for two
  for (size_t at = 0; at < directory.size(); at += kEntryBytes) {
    const Section section = entry_at(directory.data() + at);
    const std::string where = "has a directory that cannot be: at byte " +
                              std::to_string(trailer.directory_offset + at) + ", section " +
                              describe(section.key);
    if (section.offset < free_from || section.offset > trailer.directory_offset ||
        section.stored_bytes > trailer.directory_offset - section.offset) {
      return bad(where + " takes " + std::to_string(section.stored_bytes) + " bytes from byte " +
                 std::to_string(section.offset) + ", expected between byte " +
                 std::to_string(free_from) + " and byte " +
                 std::to_string(trailer.directory_offset));
    }
    free_from = section.offset + section.stored_bytes;
    sections_.push_back(section);
  }
  return {};
}

const Section* SectionFile::find(const SectionKey& key) const {
  const auto found =
      std::lower_bound(sections_.begin(), sections_.end(), key,
                       [](const Section& section, const SectionKey& k) { return section.key < k; });
  return found != sections_.end() && found->key == key ? &*found : nullptr;
}

uint32_t SectionFile::count(SectionType type, uint32_t a) const {
  uint32_t count = 0;
  while (find({type, a, count, 0}) != nullptr) {
    ++count;
  }
  return count;
}

Status SectionFile::load(const SectionKey& key, const MemoryBudget& budget, std::string& where,
                         std::string_view& bytes) {
  const Section* const section = find(key);
  if (section == nullptr) {
    return bad("has no section " + describe(key) + ", which others speak of");
  }
  where =
      "'" + path_ + "', section " + describe(key) + " at byte " + std::to_string(section->offset);
  const bool plain = section->codec == Codec::Plain;
  if (!plain && section->codec != Codec::Zstd) {
    return run_error(where + ": is stored with codec " +
                         std::to_string(static_cast<uint16_t>(section->codec)) +
                         ", expected 0 (plain) or 1 (zstd)",
                     Code::Unimplemented);
  }
  if (section->raw_bytes > budget.left() ||
      (plain && section->raw_bytes != section->stored_bytes)) {
    return run_error(where + ": " + std::to_string(section->stored_bytes) +
                         " bytes are said to hold " + std::to_string(section->raw_bytes) +
                         ", expected at most " + std::to_string(budget.left()) +
                         ", and no other number where they are plain",
                     Code::DataLoss);
  }
  PRISM_TRY(read_bytes(section->offset, stored_, section->stored_bytes));
  if (checksum_of(stored_) != section->checksum) {
    return run_error(where + ": is damaged: its checksum is wrong", Code::DataLoss);
  }
  bytes = stored_;
  return plain ? Status() : decompress(where, section->raw_bytes, bytes);
}

Status SectionFile::decompress(const std::string& where, uint64_t raw_bytes,
                               std::string_view& bytes) {
  // The frame says its size too: nothing is allocated for what would not come.
  if (ZSTD_getFrameContentSize(stored_.data(), stored_.size()) != raw_bytes) {
    return run_error(where + ": is no zstd frame of " + std::to_string(raw_bytes) + " bytes",
                     Code::DataLoss);
  }
  if (zstd_ == nullptr) {
    zstd_.reset(ZSTD_createDCtx());
    PRISM_ASSERT(zstd_ != nullptr);
  }
  raw_.resize(raw_bytes);
  const size_t size =
      ZSTD_decompressDCtx(zstd_.get(), raw_.data(), raw_.size(), stored_.data(), stored_.size());
  if (ZSTD_isError(size) != 0 || size != raw_bytes) {
    return run_error(where + ": cannot be decompressed: " +
                         (ZSTD_isError(size) != 0 ? ZSTD_getErrorName(size) : "it is short"),
                     Code::DataLoss);
  }
  bytes = raw_;
  return {};
}

Result<uint32_t> content_of(const std::string& path) {
  uint64_t size = 0;
  PRISM_TRY_ASSIGN(const Descriptor fd, open_regular(path, size));
  std::string header(kHeaderBytes, '\0');
  if (size < header.size()) {
    return uint32_t{0};
  }
  PRISM_TRY(read_at(fd, path, 0, header.data(), header.size()));
  const std::string_view checked(header.data(), kHeaderBytes - 8);
  const bool known = header.substr(0, kFileMagic.size()) == kFileMagic &&
                     number_at<uint64_t>(header.data() + checked.size()) == checksum_of(checked) &&
                     number_at<uint16_t>(header.data() + 8) == kMajorVersion;
  return known ? number_at<uint32_t>(header.data() + 12) : uint32_t{0};
}

}  // namespace prism::graph::file
