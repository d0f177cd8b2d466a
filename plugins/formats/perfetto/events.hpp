// SPDX-License-Identifier: Apache-2.0
/// The events of the Chrome trace format, one a line, written as they come.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "plugins/formats/output_file.hpp"

namespace prism::perfetto {

/// "..." with what JSON wants escaped.
std::string quoted(std::string_view text);

/// The arguments that the UI shows for a slice.
class Arguments {
 public:
  Arguments& text(std::string_view name, std::string_view value);
  Arguments& number(std::string_view name, int64_t value);
  std::string json() const { return "{" + json_ + "}"; }

 private:
  std::string json_;
};

/// A moment on a lane; an arrow sticks to the slice that is there.
struct Point {
  uint32_t rank = 0;
  uint32_t lane = 0;
  int64_t at_ns = 0;
};

class Events {
 public:
  /// `origin_ns`: the time that is shown as 0.
  Events(const std::string& path, int64_t origin_ns);

  void name_rank(uint32_t rank);
  void name_lane(uint32_t rank, uint32_t lane, std::string_view name);
  void slice(const Point& begin, int64_t duration_ns, std::string_view name,
             const Arguments& arguments);
  void arrow(const Point& from, const Point& to, std::string_view name);
  void close();

 private:
  /// Begins an event; `rest` are its other members.
  void event(std::string_view phase, uint32_t rank, uint32_t lane, std::string_view rest);
  std::string timestamp(int64_t ns) const;

  formats::OutputFile file_;
  int64_t origin_ns_;
  uint64_t arrows_ = 0;
  bool first_ = true;
};

}  // namespace prism::perfetto
