// SPDX-License-Identifier: Apache-2.0
/// AttributeProto: a name and a value of one of 30 types. Whoever reads a whole number takes any of
/// the ten types that hold one, as tools differ in which they write.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/formats/chakra/wire.hpp"

namespace prism::chakra {

class Attribute {
 public:
  /// Views into `message`. Throws Malformed.
  explicit Attribute(std::string_view message);

  std::string_view name() const { return name_; }

  // The value. Throw Malformed with the attribute's name where it is another one.
  int64_t integer(int64_t least = std::numeric_limits<int64_t>::min(),
                  int64_t most = std::numeric_limits<int64_t>::max()) const;
  int32_t integer32(int32_t least = std::numeric_limits<int32_t>::min()) const {
    return static_cast<int32_t>(integer(least, std::numeric_limits<int32_t>::max()));
  }
  bool flag() const { return integer() != 0; }
  std::string_view text() const;
  /// A text, or a whole number as one.
  std::string name_or_number() const;
  std::vector<int64_t> integers(int64_t least, int64_t most) const;
  std::vector<std::string> texts() const;

 private:
  [[noreturn]] void expected(const std::string& what) const;
  int64_t in_range(int64_t value, int64_t least, int64_t most) const;

  std::string_view name_;
  Field value_;  ///< number 0: none that is known
};

/// Appends attributes to a message that has them as its field `field`.
class AttributeWriter {
 public:
  AttributeWriter(std::string& message, uint32_t field) : message_(message), field_(field) {}

  void flag(std::string_view name, bool value);
  void integer(std::string_view name, int64_t value);
  /// For readers that take no other type.
  void integer32(std::string_view name, int32_t value);
  void text(std::string_view name, std::string_view value);
  void integers(std::string_view name, const std::vector<int64_t>& values);
  void texts(std::string_view name, const std::vector<std::string>& values);

 private:
  void begin(std::string_view name);
  void end() { put_bytes(message_, field_, scratch_); }

  std::string& message_;
  const uint32_t field_;
  std::string scratch_;
};

}  // namespace prism::chakra
