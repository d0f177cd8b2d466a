// SPDX-License-Identifier: Apache-2.0
/// The wire format of Protocol Buffers: https://protobuf.dev/programming-guides/encoding
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace prism::chakra {

/// Bytes that are no message; whoever knows the place adds it.
class Malformed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

enum class Wire : uint8_t { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

struct Field {
  uint32_t number = 0;
  Wire wire = Wire::Varint;
  uint64_t value = 0;      ///< of all but Bytes
  std::string_view bytes;  ///< of Bytes: text, message, or packed numbers
};

/// Reads from the front of `bytes` and takes it off. Throw Malformed where it ends too early.
uint64_t take_varint(std::string_view& bytes);
uint64_t take_fixed64(std::string_view& bytes);
uint64_t take_fixed32(std::string_view& bytes);

/// The next field of a message; false at its end. Throws Malformed.
bool take_field(std::string_view& message, Field& field);

/// Throws Malformed unless the field has this wire type.
void expect_wire(const Field& field, Wire wire, const char* name);

constexpr int64_t zigzag_decoded(uint64_t value) {
  return static_cast<int64_t>(value >> 1U) ^ -static_cast<int64_t>(value & 1U);
}

void put_varint(std::string& to, uint64_t value);
void put_number(std::string& to, uint32_t field, uint64_t value);
void put_bytes(std::string& to, uint32_t field, std::string_view bytes);

}  // namespace prism::chakra
