// SPDX-License-Identifier: Apache-2.0
/// The content of a section, field by field. An Encoder writes what a Decoder (decoder.hpp) reads:
/// the codecs are templates over both, so that the two cannot disagree.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "core/graph/file/bytes.hpp"
#include "core/graph/file/numbers.hpp"

namespace prism::graph::file {

/// Numbers as the file has them: unsigned as they are, signed ones zigzagged.
template <typename T>
constexpr uint64_t to_file(T value) {
  if constexpr (std::is_enum_v<T>) {
    return static_cast<uint64_t>(value);
  } else if constexpr (std::is_signed_v<T>) {
    return zigzag(static_cast<uint64_t>(int64_t{value}));
  } else {
    return uint64_t{value};
  }
}
/// kNone and -1 are 0, other indices one more than they are.
template <typename T>
constexpr uint64_t index_to_file(T index) {
  static_assert(sizeof(T) == 4);
  return static_cast<uint32_t>(static_cast<uint32_t>(index) + 1);
}

class Encoder {
 public:
  static constexpr bool kReads = false;

  const std::string& bytes() const { return bytes_; }
  /// Where bytes of another nature begin.
  const std::vector<size_t>& cuts() const { return cuts_; }
  /// What the model needs of this in memory, counted as a Decoder does.
  uint64_t memory() const { return memory_; }
  bool ok() const { return true; }

  template <typename T>
  void number(const char* /*name*/, T value) {
    append_number(bytes_, to_file(value));
  }
  void text(const char* name, const std::string& value) {
    number(name, value.size());
    bytes_ += value;
    memory_ += value.size();
  }
  /// The number of elements, each of which takes `memory_each` bytes of memory.
  template <typename T>
  void list(const char* name, const std::vector<T>& elements, uint64_t memory_each) {
    count(name, elements.size(), memory_each);
  }
  /// The same of a list that is no vector. Returns the count.
  size_t count(const char* name, size_t size, uint64_t memory_each) {
    number(name, size);
    memory_ += size * memory_each;
    return size;
  }
  /// One field of all elements: `field` gives a reference to it.
  template <typename T, typename Field>
  void column(const char* name, const std::vector<T>& elements, Field field) {
    fill(elements.size(), [&](size_t i) { return to_file(field(elements[i])); });
    values(name, scratch_, {});
  }
  template <typename T, typename Field>
  void indices(const char* name, const std::vector<T>& elements, Field field) {
    fill(elements.size(), [&](size_t i) { return index_to_file(field(elements[i])); });
    values(name, scratch_, {});
  }
  /// One text of all elements: their lengths, then their bytes.
  template <typename T, typename Field>
  void texts(const char* name, const std::vector<T>& elements, Field field) {
    fill(elements.size(), [&](size_t i) { return field(elements[i]).size(); });
    values(name, scratch_, {});
    cuts_.push_back(bytes_.size());
    for (const T& element : elements) {
      bytes_ += field(element);
      memory_ += field(element).size();
    }
    cuts_.push_back(bytes_.size());
  }
  /// Numbers that the codec has made: as many as the reader knows that there are.
  void values(const char* /*name*/, const std::vector<uint64_t>& numbers,
              std::span<const uint64_t> reference) {
    append_numbers(bytes_, cuts_, numbers, reference);
  }

 private:
  template <typename Value>
  void fill(size_t size, Value value) {
    scratch_.resize(size);
    for (size_t i = 0; i < size; ++i) {
      scratch_[i] = value(i);
    }
  }

  std::string bytes_;
  std::vector<size_t> cuts_;
  uint64_t memory_ = 0;
  std::vector<uint64_t> scratch_;
};

}  // namespace prism::graph::file
