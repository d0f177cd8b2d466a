// SPDX-License-Identifier: Apache-2.0
#include "plugins/tensor_sources/npy.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string>

#include "prism/sdk/error.hpp"
#include "prism/sdk/tensor.hpp"

namespace prism::tensor_sources {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::string_view kSpaces = " \t\r\n";

[[noreturn]] void refuse(const std::string& what) {
  throw sdk::Error(PRISM_STATUS_INVALID_ARGUMENT, "the .npy header " + what);
}

/// Printable ASCII of at most 40 characters: the file may hold anything.
std::string shown(std::string_view text) {
  std::string clean;
  for (const char c : text.substr(0, 40)) {
    clean += c >= ' ' && c <= '~' ? c : '?';
  }
  return clean;
}

/// What stands behind 'key': in the text of a Python dictionary.
std::string_view value_of(std::string_view dictionary, std::string_view key) {
  for (const char quote : {'\'', '"'}) {
    const std::string name = quote + std::string(key) + quote;
    const size_t at = dictionary.find(name);
    if (at == std::string_view::npos) {
      continue;
    }
    std::string_view rest = dictionary.substr(at + name.size());
    rest.remove_prefix(std::min(rest.find_first_not_of(kSpaces), rest.size()));
    if (!rest.starts_with(':')) {
      break;
    }
    rest.remove_prefix(1);
    rest.remove_prefix(std::min(rest.find_first_not_of(kSpaces), rest.size()));
    return rest;
  }
  refuse("has no '" + std::string(key) + "'");
}

int32_t read_type(std::string_view value) {
  const bool text = value.starts_with('\'') || value.starts_with('"');
  const size_t end = text ? value.find(value[0], 1) : std::string_view::npos;
  if (end == std::string_view::npos) {
    refuse("has a 'descr' that is no text: records and objects cannot be used");
  }
  const std::string_view type = value.substr(1, end - 1);
  if (type.starts_with('>')) {
    refuse("says '" + shown(type) + "': write the array in little-endian order");
  }
  struct Known {
    std::string_view name;
    int32_t dtype;
  };
  constexpr Known kKnown[] = {
      {"b1", PRISM_DTYPE_BOOL}, {"u1", PRISM_DTYPE_U8},   {"i1", PRISM_DTYPE_I8},
      {"i2", PRISM_DTYPE_I16},  {"i4", PRISM_DTYPE_I32},  {"i8", PRISM_DTYPE_I64},
      {"u2", PRISM_DTYPE_U16},  {"u4", PRISM_DTYPE_U32},  {"u8", PRISM_DTYPE_U64},
      {"f2", PRISM_DTYPE_F16},  {"f4", PRISM_DTYPE_F32},  {"f8", PRISM_DTYPE_F64},
      {"c8", PRISM_DTYPE_C64},  {"c16", PRISM_DTYPE_C128}};
  for (const Known& known : kKnown) {
    if (type.size() > 1 && type.substr(1) == known.name) {
      return known.dtype;
    }
  }
  refuse("has elements of type '" + shown(type) +
         "', which no tensor has; give the file as raw little-endian elements instead");
}

uint64_t read_elements(std::string_view value, uint64_t element_size) {
  if (!value.starts_with('(')) {
    refuse("has a 'shape' that is no tuple");
  }
  const uint64_t most = std::numeric_limits<int64_t>::max() / element_size;
  uint64_t elements = 1;
  value.remove_prefix(1);
  while (true) {
    value.remove_prefix(std::min(value.find_first_not_of(kSpaces), value.size()));
    if (value.starts_with(')')) {
      return elements;
    }
    uint64_t extent = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), extent);
    if (error != std::errc() || (extent > 0 && elements > most / extent)) {
      refuse("has a 'shape' that cannot be right");
    }
    elements *= extent;
    value.remove_prefix(static_cast<size_t>(end - value.data()));
    value.remove_prefix(std::min(value.find_first_not_of(kSpaces), value.size()));
    if (value.starts_with(',')) {
      value.remove_prefix(1);
    } else if (!value.starts_with(')')) {
      refuse("has a 'shape' that cannot be right");
    }
  }
}

}  // namespace

bool is_npy(std::string_view begin) {
  return begin.starts_with(kMagic);
}

NpyHeader read_npy_header(std::string_view begin) {
  const auto byte = [&](size_t i) -> uint64_t {
    if (i >= begin.size()) {
      refuse("is cut off");
    }
    return static_cast<unsigned char>(begin[i]);
  };
  const uint64_t version = byte(6);
  if (version < 1 || version > 3) {
    refuse("is of version " + std::to_string(version) + ", expected 1 to 3");
  }
  const uint64_t text_at = version == 1 ? 10 : 12;
  uint64_t length = byte(8) | byte(9) << 8;
  if (version > 1) {
    length |= byte(10) << 16 | byte(11) << 24;
  }
  if (length > kMaxNpyHeader - text_at) {
    refuse("says that it has " + std::to_string(length) + " bytes, expected at most " +
           std::to_string(kMaxNpyHeader - text_at));
  }
  if (begin.size() < text_at + length) {
    refuse("is cut off");
  }
  const std::string_view dictionary = begin.substr(text_at, length);
  NpyHeader header;
  header.dtype = read_type(value_of(dictionary, "descr"));
  header.elements = read_elements(value_of(dictionary, "shape"), sdk::element_size(header.dtype));
  if (!value_of(dictionary, "fortran_order").starts_with("False")) {
    refuse(
        "says that the array is in Fortran order: write it in C order "
        "(numpy.ascontiguousarray)");
  }
  header.data_at = text_at + length;
  return header;
}

}  // namespace prism::tensor_sources
