// SPDX-License-Identifier: Apache-2.0
#include "plugins/formats/perfetto/events.hpp"

#include <cstdio>

namespace prism::perfetto {
namespace {

/// The format counts in microseconds; three decimals keep every nanosecond.
std::string microseconds(int64_t ns) {
  const uint64_t size = ns < 0 ? 0 - static_cast<uint64_t>(ns) : static_cast<uint64_t>(ns);
  char text[40];
  std::snprintf(text, sizeof text, "%s%llu.%03llu", ns < 0 ? "-" : "",
                static_cast<unsigned long long>(size / 1000),
                static_cast<unsigned long long>(size % 1000));
  return text;
}

}  // namespace

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
      result += escape;
    } else {
      result += c;
    }
  }
  return result + '"';
}

Arguments& Arguments::text(std::string_view name, std::string_view value) {
  json_ += (json_.empty() ? "" : ", ") + quoted(name) + ": " + quoted(value);
  return *this;
}

Arguments& Arguments::number(std::string_view name, int64_t value) {
  json_ += (json_.empty() ? "" : ", ") + quoted(name) + ": " + std::to_string(value);
  return *this;
}

Events::Events(const std::string& path, int64_t origin_ns) : file_(path), origin_ns_(origin_ns) {
  file_.write("{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n");
}

void Events::name_rank(uint32_t rank) {
  event("M", rank, 0,
        R"("name": "process_name", "args": {"name": "rank )" + std::to_string(rank) + "\"}");
}

void Events::name_lane(uint32_t rank, uint32_t lane, std::string_view name) {
  event("M", rank, lane, R"("name": "thread_name", "args": {"name": )" + quoted(name) + "}");
}

void Events::slice(const Point& begin, int64_t duration_ns, std::string_view name,
                   const Arguments& arguments) {
  event("X", begin.rank, begin.lane,
        "\"ts\": " + timestamp(begin.at_ns) + ", \"dur\": " + microseconds(duration_ns) +
            ", \"name\": " + quoted(name) + ", \"args\": " + arguments.json());
}

void Events::arrow(const Point& from, const Point& to, std::string_view name) {
  const std::string common =
      ", \"name\": " + quoted(name) + R"(, "cat": "flow", "id": )" + std::to_string(++arrows_);
  event("s", from.rank, from.lane, "\"ts\": " + timestamp(from.at_ns) + common);
  event("f", to.rank, to.lane, "\"ts\": " + timestamp(to.at_ns) + common + R"(, "bp": "e")");
}

void Events::close() {
  file_.write("\n]}\n");
  file_.close();
}

void Events::event(std::string_view phase, uint32_t rank, uint32_t lane, std::string_view rest) {
  std::string line = first_ ? "" : ",\n";
  first_ = false;
  line += "{\"ph\": " + quoted(phase) + ", \"pid\": " + std::to_string(rank) +
          ", \"tid\": " + std::to_string(lane) + ", ";
  line += rest;
  line += '}';
  file_.write(line);
}

std::string Events::timestamp(int64_t ns) const {
  return microseconds(ns - origin_ns_);
}

}  // namespace prism::perfetto
