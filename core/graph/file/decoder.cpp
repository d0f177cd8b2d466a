// SPDX-License-Identifier: Apache-2.0
#include "core/graph/file/decoder.hpp"

namespace prism::graph::file {
namespace {

/// Indices are 32 bits, and kNone is none.
constexpr uint64_t kMostElements = 0xfffffffe;

}  // namespace

Status Decoder::finish() {
  if (ok() && at_ != bytes_.size()) {
    fail(std::to_string(bytes_.size() - at_) + " bytes are left over");
  }
  return std::move(status_);
}

void Decoder::fail(const std::string& what) {
  if (ok()) {
    status_ = run_error(where_ + ", byte " + std::to_string(at_) + " of its content: " + what,
                        Code::DataLoss);
  }
}

void Decoder::fail_value(const char* name, uint64_t raw, size_t bytes) {
  fail(std::string(name) + ": " + std::to_string(raw) + " does not fit; the field has " +
       std::to_string(bytes) + " bytes at most");
}

bool Decoder::take_number(const char* name, uint64_t& number) {
  if (!ok()) {
    return false;
  }
  if (bytes_.size() - at_ < sizeof number) {
    fail(std::string(name) + ": expected 8 bytes, " + std::to_string(bytes_.size() - at_) +
         " are left");
    return false;
  }
  number = number_at<uint64_t>(bytes_.data() + at_);
  at_ += sizeof number;
  return true;
}

void Decoder::take_text(const char* name, uint64_t size, std::string& value) {
  if (size > bytes_.size() - at_) {
    fail(std::string(name) + ": a text of " + std::to_string(size) + " bytes, " +
         std::to_string(bytes_.size() - at_) + " are left");
  } else if (!budget_.take(size)) {
    fail(std::string(name) + ": needs more memory than a file of this size may");
  } else {
    value.assign(bytes_, at_, size);
    at_ += size;
  }
}

void Decoder::text(const char* name, std::string& value) {
  uint64_t size = 0;
  if (take_number(name, size)) {
    take_text(name, size, value);
  }
}

size_t Decoder::count(const char* name, size_t /*size*/, uint64_t memory_each) {
  uint64_t count = 0;
  if (!take_number(name, count)) {
    return 0;
  }
  if (count > kMostElements) {
    fail(std::string(name) + ": " + std::to_string(count) + " elements, expected at most " +
         std::to_string(kMostElements));
    return 0;
  }
  if (!budget_.take(count * memory_each)) {
    fail(std::string(name) + ": " + std::to_string(count) +
         " elements need more memory than a file of this size may (" +
         std::to_string(budget_.left()) + " bytes are left of its budget)");
    return 0;
  }
  return count;
}

void Decoder::values(const char* name, std::vector<uint64_t>& numbers,
                     std::span<const uint64_t> reference) {
  if (!ok()) {
    return;
  }
  if (bytes_.size() - at_ < kColumnHeadBytes) {
    fail(std::string(name) + ": expected the head of a column");
    return;
  }
  const char* const head_bytes = bytes_.data() + at_;
  const NumbersHead head{number_at<uint8_t>(head_bytes), number_at<uint8_t>(head_bytes + 1),
                         number_at<uint64_t>(head_bytes + 2)};
  const bool refers = head.rule == static_cast<uint8_t>(Rule::Reference);
  if (head.rule > static_cast<uint8_t>(Rule::Reference) || head.width > 8) {
    fail(std::string(name) + ": a column of rule " + std::to_string(head.rule) + " and " +
         std::to_string(head.width) + " planes, expected at most 2 and 8");
    return;
  }
  if (refers && reference.size() != numbers.size()) {
    fail(std::string(name) + ": a column of " + std::to_string(numbers.size()) +
         " refers to one of " + std::to_string(reference.size()));
    return;
  }
  at_ += kColumnHeadBytes;
  const uint64_t planes = uint64_t{head.width} * numbers.size();
  if (planes > bytes_.size() - at_) {
    fail(std::string(name) + ": " + std::to_string(planes) + " bytes of a column, " +
         std::to_string(bytes_.size() - at_) + " are left");
    return;
  }
  decode_numbers(head, bytes_.substr(at_, planes), reference, numbers);
  at_ += planes;
}

}  // namespace prism::graph::file
