// SPDX-License-Identifier: Apache-2.0
// A trace as lines of text, which is read and written:
//
//   template_id 1
//   rank 0
//   lane 1 stream:7          kind (PRISM_LANE_) and name
//   node 0 1000 3000 gemm    lane, start and end in ns, and name
//   end
//
// A name goes to the end of its line; of its characters, control characters and '%' are written as
// %XX. Communications are written as nodes that nobody waits for: this format has no words for
// more. The contract of a format is in prism/abi/draft/format.h, a draft: host and plugin must be
// of the same version.
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <span>
#include <string>
#include <string_view>

#include "prism/sdk/format.hpp"
#include "prism/sdk/options.hpp"
#include "prism/sdk/plugin.hpp"

namespace {

using prism::sdk::OptionValues;
using prism::sdk::TraceInput;
using prism::sdk::TraceNode;
using prism::sdk::TraceReader;
using prism::sdk::TraceSink;

constexpr std::string_view kHeader = "template_id 1";
constexpr std::string_view kEnd = "end";

std::string escaped(std::string_view name) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string text;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || c == '%') {
      text += {'%', kDigits[byte / 16], kDigits[byte % 16]};
    } else {
      text += c;
    }
  }
  return text;
}

std::string quoted(std::string_view word) {
  std::string text = "'";
  text += word;
  return text += '\'';
}

/// A file, line by line. Whatever is wrong is told with file and line.
class Lines {
 public:
  explicit Lines(const std::string& path) : path_(path), file_(path, std::ios::binary) {
    if (!file_.is_open()) {
      refuse(PRISM_STATUS_NOT_FOUND, "cannot be opened");
    }
  }

  /// The next line, which the words are then of. A last one without its end is one that was cut.
  void next() {
    ++number_;
    if (!std::getline(file_, line_) || file_.eof()) {
      refuse(PRISM_STATUS_DATA_LOSS, "the file is cut: there is no line 'end'");
    }
    rest_ = line_;
  }
  bool is(std::string_view line) const { return line_ == line; }

  std::string_view word() {
    const std::string_view word = rest_.substr(0, rest_.find(' '));
    rest_.remove_prefix(std::min(rest_.size(), word.size() + 1));
    return word;
  }
  template <typename T>
  T number() {
    return number_in<T>(word(), 10);
  }
  /// The rest of the line.
  std::string name() {
    std::string text;
    for (size_t i = 0; i < rest_.size(); ++i) {
      if (rest_[i] == '%') {
        text += static_cast<char>(number_in<uint8_t>(rest_.substr(i + 1, 2), 16));
        i += 2;
      } else {
        text += rest_[i];
      }
    }
    return text;
  }

  [[noreturn]] void refuse(prism_status_t code, const std::string& what) const {
    throw prism::sdk::Error(code, path_ + ":" + std::to_string(number_) + ": " + what);
  }

 private:
  template <typename T>
  T number_in(std::string_view digits, int base) const {
    T value{};
    const char* const last = digits.data() + digits.size();
    const auto [end, error] = std::from_chars(digits.data(), last, value, base);
    if (error != std::errc() || end != last) {
      refuse(PRISM_STATUS_INVALID_ARGUMENT, quoted(digits) + " is no number that can be");
    }
    return value;
  }

  std::string path_;
  std::ifstream file_;
  std::string line_;
  std::string_view rest_;
  int number_ = 0;
};

class TemplateClass {
 public:
  static constexpr prism_str_t kClocks[] = {prism::sdk::to_c("shared"), prism::sdk::to_c("own")};
  static constexpr auto kOptions = prism::sdk::options(
      prism::sdk::text("clock", "Whether times of ranks can be compared: shared (all), own (none).")
          .choices(kClocks)
          .by_default("\"shared\""));

  explicit TemplateClass(const OptionValues& values) : own_clocks_(values.text("clock") == "own") {}

  /// By the beginning of the file; an empty, foreign or missing one is not of this format.
  static bool recognises(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::string begin(kHeader.size() + 1, '\0');
    file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
    return begin.back() == '\n' && begin.starts_with(kHeader);
  }

  void import_trace(std::span<const TraceInput> inputs, TraceSink& sink) const {
    for (const TraceInput& input : inputs) {
      Lines lines(input.path);
      lines.next();
      if (!lines.is(kHeader)) {
        lines.refuse(PRISM_STATUS_INVALID_ARGUMENT, quoted(kHeader) + " was expected");
      }
      for (lines.next(); !lines.is(kEnd); lines.next()) {
        tell_line(lines, input, sink);
      }
    }
  }

  static void export_trace(const TraceReader& reader, const std::string& path) {
    std::ofstream file(path, std::ios::binary);
    file << kHeader << "\n";
    for (const uint32_t rank : reader.ranks()) {
      write_rank(reader, rank, file);
    }
    file << kEnd << "\n";
    file.close();
    if (!file) {  // also what could not be written before
      throw prism::sdk::Error(PRISM_STATUS_FAILED_PRECONDITION, path + ": cannot be written");
    }
  }

 private:
  /// The host checks what it is told, and throws: nothing of that is to be done here.
  void tell_line(Lines& lines, const TraceInput& input, TraceSink& sink) const {
    const std::string_view kind = lines.word();
    if (kind == "rank") {
      const auto rank = lines.number<uint32_t>();
      sink.begin_rank(input.rank.value_or(rank), own_clocks_ ? rank : 0, input.path);
    } else if (kind == "lane") {
      const auto lane = lines.number<int32_t>();
      sink.add_lane(lane, lines.name());
    } else if (kind == "node") {
      TraceNode node;
      node.lane = lines.number<uint32_t>();
      node.start_ns = lines.number<int64_t>();
      node.end_ns = lines.number<int64_t>();
      const std::string name = lines.name();
      node.name = name;
      sink.add_node(node);
    } else {
      lines.refuse(PRISM_STATUS_INVALID_ARGUMENT, quoted(kind) + " is no kind of line");
    }
  }

  static void write_rank(const TraceReader& reader, uint32_t rank, std::ofstream& file) {
    file << "rank " << rank << "\n";
    for (uint64_t i = 0; i < reader.lane_count(rank); ++i) {
      const prism::sdk::TraceLane lane = reader.lane(rank, i);
      file << "lane " << lane.kind << ' ' << escaped(lane.name) << "\n";
    }
    for (uint64_t i = 0; i < reader.node_count(rank); ++i) {
      const prism::sdk::ReplayedNode replayed = reader.node(rank, i);
      const TraceNode& node = replayed.node;
      file << "node " << node.lane << ' ' << node.start_ns << ' ' << node.end_ns << ' '
           << escaped(node.name) << "\n";
    }
  }

  bool own_clocks_;
};

}  // namespace

PRISM_PLUGIN(PRISM_PLUGIN_ID, PRISM_PLUGIN_VERSION, prism::sdk::Format<TemplateClass>);
