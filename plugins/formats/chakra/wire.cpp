// SPDX-License-Identifier: Apache-2.0
#include "plugins/formats/chakra/wire.hpp"

namespace prism::chakra {
namespace {

constexpr uint64_t kMostFieldNumber = (uint64_t{1} << 29U) - 1;

uint64_t take_fixed(std::string_view& bytes, size_t size) {
  if (bytes.size() < size) {
    throw Malformed("it ends in the middle of a number");
  }
  uint64_t value = 0;
  for (size_t i = 0; i < size; ++i) {
    value |= uint64_t{static_cast<unsigned char>(bytes[i])} << 8 * i;
  }
  bytes.remove_prefix(size);
  return value;
}

}  // namespace

uint64_t take_varint(std::string_view& bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    if (i == 9 && byte > 1) {
      throw Malformed("it has a number of more than 64 bits");
    }
    value |= uint64_t{byte & 0x7fU} << 7 * i;
    if (byte < 0x80) {
      bytes.remove_prefix(i + 1);
      return value;
    }
  }
  throw Malformed("it ends in the middle of a number");
}

uint64_t take_fixed64(std::string_view& bytes) {
  return take_fixed(bytes, 8);
}

uint64_t take_fixed32(std::string_view& bytes) {
  return take_fixed(bytes, 4);
}

bool take_field(std::string_view& message, Field& field) {
  if (message.empty()) {
    return false;
  }
  const uint64_t tag = take_varint(message);
  if (tag >> 3U == 0 || tag >> 3U > kMostFieldNumber) {
    throw Malformed("it has the field number " + std::to_string(tag >> 3U) +
                    ", 1 to 536870911 was expected");
  }
  field.number = static_cast<uint32_t>(tag >> 3U);
  switch (tag & 7U) {
    case 0:
      field.wire = Wire::Varint;
      field.value = take_varint(message);
      return true;
    case 1:
      field.wire = Wire::Fixed64;
      field.value = take_fixed64(message);
      return true;
    case 2: {
      field.wire = Wire::Bytes;
      const uint64_t size = take_varint(message);
      if (size > message.size()) {
        throw Malformed("its field " + std::to_string(field.number) + " says it has " +
                        std::to_string(size) + " bytes, but only " +
                        std::to_string(message.size()) + " are left");
      }
      field.bytes = message.substr(0, static_cast<size_t>(size));
      message.remove_prefix(field.bytes.size());
      return true;
    }
    case 5:
      field.wire = Wire::Fixed32;
      field.value = take_fixed32(message);
      return true;
    default:
      throw Malformed("its field " + std::to_string(field.number) + " has the wire type " +
                      std::to_string(tag & 7U) + "; 0, 1, 2 or 5 was expected");
  }
}

void expect_wire(const Field& field, Wire wire, const char* name) {
  if (field.wire != wire) {
    throw Malformed("its field " + std::to_string(field.number) + " (" + name +
                    ") has the wire type " + std::to_string(static_cast<int>(field.wire)) + "; " +
                    std::to_string(static_cast<int>(wire)) + " was expected");
  }
}

void put_varint(std::string& to, uint64_t value) {
  for (; value >= 0x80; value >>= 7U) {
    to += static_cast<char>(value | 0x80U);
  }
  to += static_cast<char>(value);
}

void put_number(std::string& to, uint32_t field, uint64_t value) {
  put_varint(to, uint64_t{field} << 3U);
  put_varint(to, value);
}

void put_bytes(std::string& to, uint32_t field, std::string_view bytes) {
  put_varint(to, uint64_t{field} << 3U | static_cast<uint64_t>(Wire::Bytes));
  put_varint(to, bytes.size());
  to += bytes;
}

}  // namespace prism::chakra
