// SPDX-License-Identifier: Apache-2.0
/// Reads what an Encoder (encoder.hpp) has written, and believes nothing: after the first error it
/// gives no more elements, and `finish` says what was wrong and where.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/base/status.hpp"
#include "core/graph/file/bytes.hpp"
#include "core/graph/file/numbers.hpp"

namespace prism::graph::file {

/// Memory that a file may still ask for; see kMemoryPerByte.
class MemoryBudget {
 public:
  explicit MemoryBudget(uint64_t bytes) : left_(bytes) {}
  uint64_t left() const { return left_; }
  /// False, and nothing is taken, where less is left.
  bool take(uint64_t bytes) {
    if (bytes > left_) {
      return false;
    }
    left_ -= bytes;
    return true;
  }

 private:
  uint64_t left_;
};

class Decoder {
 public:
  static constexpr bool kReads = true;

  /// `where` begins all messages: file, section, offset. Keeps references to all three.
  Decoder(std::string_view bytes, const std::string& where, MemoryBudget& budget)
      : bytes_(bytes), where_(where), budget_(budget) {}

  bool ok() const { return status_.ok(); }
  /// The first error, or bytes that are left over.
  Status finish();
  /// Notes the error unless there was one: "at byte N of its content: WHAT".
  void fail(const std::string& what);

  template <typename T>
  void number(const char* name, T& value) {
    uint64_t raw = 0;
    if (take_number(name, raw) && !from_file(raw, value)) {
      fail_value(name, raw, sizeof(T));
    }
  }
  void text(const char* name, std::string& value);
  template <typename T>
  void list(const char* name, std::vector<T>& elements, uint64_t memory_each) {
    elements.resize(count(name, 0, memory_each));
  }
  /// The count that the file says; 0 after an error.
  size_t count(const char* name, size_t /*size*/, uint64_t memory_each);

  template <typename T, typename Field>
  void column(const char* name, std::vector<T>& elements, Field field) {
    read(name, elements, [&](T& element, uint64_t raw) { return from_file(raw, field(element)); });
  }
  template <typename T, typename Field>
  void indices(const char* name, std::vector<T>& elements, Field field) {
    read(name, elements, [&](T& element, uint64_t raw) {
      using Value = std::remove_reference_t<decltype(field(element))>;
      field(element) = static_cast<Value>(static_cast<uint32_t>(raw) - 1);
      return raw <= std::numeric_limits<uint32_t>::max();
    });
  }
  template <typename T, typename Field>
  void texts(const char* name, std::vector<T>& elements, Field field) {
    scratch_.resize(elements.size());
    values(name, scratch_, {});
    for (size_t i = 0; i < elements.size() && ok(); ++i) {
      take_text(name, scratch_[i], field(elements[i]));
    }
  }
  /// Fills `numbers`, whose size says how many there are.
  void values(const char* name, std::vector<uint64_t>& numbers,
              std::span<const uint64_t> reference);

 private:
  /// False where the number does not fit.
  template <typename T>
  static bool from_file(uint64_t raw, T& value) {
    if constexpr (std::is_enum_v<T>) {
      value = static_cast<T>(raw);
      return raw <= std::numeric_limits<std::underlying_type_t<T>>::max();
    } else if constexpr (std::is_same_v<T, bool>) {
      value = raw != 0;
      return raw <= 1;
    } else if constexpr (std::is_signed_v<T>) {
      const auto number = static_cast<int64_t>(unzigzag(raw));
      value = static_cast<T>(number);
      return number == int64_t{value};
    } else {
      value = static_cast<T>(raw);
      return raw <= std::numeric_limits<T>::max();
    }
  }
  template <typename T, typename Put>
  void read(const char* name, std::vector<T>& elements, Put put) {
    scratch_.resize(elements.size());
    values(name, scratch_, {});
    for (size_t i = 0; i < elements.size() && ok(); ++i) {
      if (!put(elements[i], scratch_[i])) {
        fail_value(name, scratch_[i], sizeof(T));
      }
    }
  }
  bool take_number(const char* name, uint64_t& number);
  void take_text(const char* name, uint64_t size, std::string& value);
  void fail_value(const char* name, uint64_t raw, size_t bytes);

  std::string_view bytes_;
  size_t at_ = 0;
  const std::string& where_;
  MemoryBudget& budget_;
  Status status_;
  std::vector<uint64_t> scratch_;
};

}  // namespace prism::graph::file
