// SPDX-License-Identifier: Apache-2.0
/// The numbers of the .prism file: docs/prismtrace.md says what they mean.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace prism::graph::file {

inline constexpr std::string_view kFileMagic{"\x89PRISM\r\n", 8};
inline constexpr std::string_view kTrailerMagic{"\x89PRISME\n", 8};
inline constexpr uint16_t kMajorVersion = 1;
inline constexpr uint16_t kMinorVersion = 0;

inline constexpr uint64_t kHeaderBytes = 32;
inline constexpr uint64_t kEntryBytes = 48;
inline constexpr uint64_t kTrailerBytes = 48;

/// What a file is, in its header.
inline constexpr uint32_t kContentTrace = 1;
inline constexpr uint32_t kContentObservation = 2;

enum class SectionType : uint16_t {
  Contents = 1,       ///< of a trace; (0, 0, 0)
  Structure = 2,      ///< of a program; (number, 0, 0)
  Communicators = 3,  ///< of a program; (number, 0, 0)
  OwnTimes = 4,       ///< of a program; (number, 0, 0)
  Job = 5,            ///< its classes; (kind, 0, 0)
  Groups = 6,         ///< communicators of a job and who uses which; (kind, 0, 0)
  Sample = 7,         ///< (kind, sample, 0)
  Reference = 8,      ///< what Times of one class differ from; (kind, sample, number)
  Times = 9,          ///< (kind, sample, set)
  Observation = 10,   ///< (0, 0, 0)
  Spans = 11,         ///< (place of the rank in the observation, 0, 0)
  Padding = 12,       ///< (0, 0, 0)
};

/// How a section's bytes are stored.
enum class Codec : uint16_t { Plain = 0, Zstd = 1 };

/// How a writer stores the sections of a file.
enum class Storage : uint8_t {
  Compressed,  ///< those that become smaller
  Plain,       ///< for readers that have no zstd
};

/// What a reader needs in memory is at most kMemoryBase + kMemoryPerByte times the file's size;
/// a writer pads the file until it is so. This stops files that claim to be huge.
inline constexpr uint64_t kMemoryBase = uint64_t{64} << 20U;
inline constexpr uint64_t kMemoryPerByte = 256;

struct SectionKey {
  SectionType type = SectionType::Padding;
  uint32_t a = 0;
  uint32_t b = 0;
  uint32_t c = 0;
  auto operator<=>(const SectionKey&) const = default;
};

/// An entry of the directory.
struct Section {
  SectionKey key;
  Codec codec = Codec::Plain;
  uint64_t offset = 0;
  uint64_t stored_bytes = 0;
  uint64_t raw_bytes = 0;
  uint64_t checksum = 0;  ///< XXH64 of the stored bytes
};

/// XXH64 with seed 0.
uint64_t checksum_of(std::string_view bytes);

/// "times (0, 2, 17)", for messages.
std::string describe(const SectionKey& key);

}  // namespace prism::graph::file
