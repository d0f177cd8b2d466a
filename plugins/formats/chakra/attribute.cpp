// SPDX-License-Identifier: Apache-2.0
#include "plugins/formats/chakra/attribute.hpp"

#include "plugins/formats/chakra/schema.hpp"

namespace prism::chakra {
namespace {

/// Types of values in the order of their fields, of which each has two: one value, and a list.
enum class Type : uint8_t {
  Double,
  Float,
  Int32,
  Int64,
  Uint32,
  Uint64,
  Sint32,
  Sint64,
  Fixed32,
  Fixed64,
  Sfixed32,
  Sfixed64,
  Bool,
  String,
  Bytes,
};

Type type_of(uint32_t field) {
  return static_cast<Type>((field - attribute_field::kFirstValue) / 2);
}

bool is_list(uint32_t field) {
  return (field - attribute_field::kFirstValue) % 2 == 1;
}

bool is_whole(Type type) {
  return type >= Type::Int32 && type <= Type::Bool;
}

Wire wire_of(Type type) {
  switch (type) {
    case Type::Double:
    case Type::Fixed64:
    case Type::Sfixed64:
      return Wire::Fixed64;
    case Type::Float:
    case Type::Fixed32:
    case Type::Sfixed32:
      return Wire::Fixed32;
    case Type::String:
    case Type::Bytes:
      return Wire::Bytes;
    default:
      return Wire::Varint;
  }
}

/// What the bits of a whole number of the type mean.
int64_t meaning(Type type, uint64_t bits) {
  switch (type) {
    case Type::Sint32:
    case Type::Sint64:
      return zigzag_decoded(bits);
    case Type::Int32:
    case Type::Sfixed32:
      return static_cast<int32_t>(static_cast<uint32_t>(bits));
    case Type::Uint32:
    case Type::Fixed32:
      return static_cast<uint32_t>(bits);
    case Type::Uint64:
    case Type::Fixed64:
      if (bits > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
        throw Malformed("a number is " + std::to_string(bits) + ", at most " +
                        std::to_string(std::numeric_limits<int64_t>::max()) + " was expected");
      }
      return static_cast<int64_t>(bits);
    case Type::Bool:
      return bits != 0 ? 1 : 0;
    default:
      return static_cast<int64_t>(bits);
  }
}

uint64_t take(std::string_view& bytes, Wire wire) {
  return wire == Wire::Varint    ? take_varint(bytes)
         : wire == Wire::Fixed32 ? take_fixed32(bytes)
                                 : take_fixed64(bytes);
}

}  // namespace

Attribute::Attribute(std::string_view message) {
  Field field;
  while (take_field(message, field)) {
    if (field.number == attribute_field::kName) {
      expect_wire(field, Wire::Bytes, "name of an attribute");
      name_ = field.bytes;
    } else if (field.number >= attribute_field::kFirstValue &&
               field.number <= attribute_field::kLastValue) {
      expect_wire(field, is_list(field.number) ? Wire::Bytes : wire_of(type_of(field.number)),
                  "value of an attribute");
      value_ = field;
    }
  }
}

int64_t Attribute::integer(int64_t least, int64_t most) const {
  if (value_.number == 0 || is_list(value_.number) || !is_whole(type_of(value_.number))) {
    expected("a whole number");
  }
  return in_range(meaning(type_of(value_.number), value_.value), least, most);
}

std::string_view Attribute::text() const {
  if (value_.number == 0 || is_list(value_.number) ||
      wire_of(type_of(value_.number)) != Wire::Bytes) {
    expected("a text");
  }
  return value_.bytes;
}

std::string Attribute::name_or_number() const {
  const bool number =
      value_.number != 0 && !is_list(value_.number) && is_whole(type_of(value_.number));
  return number ? std::to_string(integer()) : std::string(text());
}

std::vector<int64_t> Attribute::integers(int64_t least, int64_t most) const {
  if (value_.number == 0 || !is_list(value_.number) || !is_whole(type_of(value_.number))) {
    expected("a list of whole numbers");
  }
  const Type type = type_of(value_.number);
  std::vector<int64_t> values;
  std::string_view list = value_.bytes;
  Field field;
  while (take_field(list, field)) {
    if (field.number != list_field::kValues) {
      continue;
    }
    if (field.wire == Wire::Bytes) {
      while (!field.bytes.empty()) {
        values.push_back(in_range(meaning(type, take(field.bytes, wire_of(type))), least, most));
      }
    } else {
      expect_wire(field, wire_of(type), "values of a list");
      values.push_back(in_range(meaning(type, field.value), least, most));
    }
  }
  return values;
}

std::vector<std::string> Attribute::texts() const {
  if (value_.number == 0 || !is_list(value_.number) ||
      wire_of(type_of(value_.number)) != Wire::Bytes) {
    expected("a list of texts");
  }
  std::vector<std::string> values;
  std::string_view list = value_.bytes;
  Field field;
  while (take_field(list, field)) {
    if (field.number == list_field::kValues) {
      expect_wire(field, Wire::Bytes, "values of a list");
      values.emplace_back(field.bytes);
    }
  }
  return values;
}

void Attribute::expected(const std::string& what) const {
  throw Malformed("its attribute '" + std::string(name_) + "' has " +
                  (value_.number == 0
                       ? "no value of a known type"
                       : "a value of another type (field " + std::to_string(value_.number) + ")") +
                  "; " + what + " was expected");
}

int64_t Attribute::in_range(int64_t value, int64_t least, int64_t most) const {
  if (value < least || value > most) {
    throw Malformed("its attribute '" + std::string(name_) + "' has the value " +
                    std::to_string(value) + "; " + std::to_string(least) + " to " +
                    std::to_string(most) + " was expected");
  }
  return value;
}

void AttributeWriter::begin(std::string_view name) {
  scratch_.clear();
  put_bytes(scratch_, attribute_field::kName, name);
}

void AttributeWriter::flag(std::string_view name, bool value) {
  begin(name);
  put_number(scratch_, attribute_field::kBool, value ? 1 : 0);
  end();
}

void AttributeWriter::integer(std::string_view name, int64_t value) {
  begin(name);
  put_number(scratch_, attribute_field::kInt64, static_cast<uint64_t>(value));
  end();
}

void AttributeWriter::integer32(std::string_view name, int32_t value) {
  begin(name);
  put_number(scratch_, attribute_field::kInt32, static_cast<uint64_t>(int64_t{value}));
  end();
}

void AttributeWriter::text(std::string_view name, std::string_view value) {
  begin(name);
  put_bytes(scratch_, attribute_field::kString, value);
  end();
}

void AttributeWriter::integers(std::string_view name, const std::vector<int64_t>& values) {
  std::string packed;
  for (const int64_t value : values) {
    put_varint(packed, static_cast<uint64_t>(value));
  }
  std::string list;
  put_bytes(list, list_field::kValues, packed);
  begin(name);
  put_bytes(scratch_, attribute_field::kInt64List, list);
  end();
}

void AttributeWriter::texts(std::string_view name, const std::vector<std::string>& values) {
  std::string list;
  for (const std::string& value : values) {
    put_bytes(list, list_field::kValues, value);
  }
  begin(name);
  put_bytes(scratch_, attribute_field::kStringList, list);
  end();
}

}  // namespace prism::chakra
