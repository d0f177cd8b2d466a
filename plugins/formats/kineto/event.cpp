// SPDX-License-Identifier: Apache-2.0
#include "plugins/formats/kineto/event.hpp"

#include <charconv>
#include <cstring>
#include <limits>
#include <simdjson.h>

#include "plugins/formats/kineto/decimal.hpp"
#include "plugins/formats/kineto/glance.hpp"
#include "plugins/formats/kineto/scanner.hpp"

namespace prism::kineto {
namespace {

using simdjson::ondemand::value;

/// A value that is no object or array, as it is written, without its quotes.
std::string_view scalar_text(value& of) {
  std::string_view text = of.raw_json_token();
  while (!text.empty() && (text.back() == ' ' || text.back() == '\n' || text.back() == '\r' ||
                           text.back() == '\t')) {
    text.remove_suffix(1);
  }
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') {
    text = text.substr(1, text.size() - 2);
  }
  return text;
}

/// -1: no whole number from 0.
int64_t whole(value& of) {
  const std::string_view text = scalar_text(of);
  int64_t number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number >= 0 ? number : -1;
}

std::string_view string_of(value& of) {
  std::string_view text;
  return of.get_string().get(text) == simdjson::SUCCESS ? text : std::string_view();
}

/// "stream 7" -> 7; what has no number: 0.
int64_t thread_number(value& of) {
  std::string_view text = scalar_text(of);
  size_t begin = text.size();
  while (begin > 0 && text[begin - 1] >= '0' && text[begin - 1] <= '9') {
    --begin;
  }
  int64_t number = 0;
  std::from_chars(text.data() + begin, text.data() + text.size(), number);
  return number;
}

std::string_view key_of(simdjson::ondemand::field& field) {
  const char* raw = field.key().raw();
  const void* quote = std::memchr(raw, '"', 256);
  return {raw, quote == nullptr ? 0 : static_cast<size_t>(static_cast<const char*>(quote) - raw)};
}

int64_t elements(value of, int depth) {
  simdjson::ondemand::array array;
  if (depth == 8 || of.get_array().get(array) != simdjson::SUCCESS) {
    return -1;
  }
  int64_t sum = 0;
  int64_t product = 1;
  bool of_arrays = false;
  bool empty = true;
  for (auto each : array) {
    value entry;
    if (each.get(entry) != simdjson::SUCCESS) {
      return -1;
    }
    simdjson::ondemand::json_type type{};
    if (entry.type().get(type) != simdjson::SUCCESS) {
      return -1;
    }
    empty = false;
    of_arrays = type == simdjson::ondemand::json_type::array;
    const int64_t part = of_arrays ? elements(entry, depth + 1) : whole(entry);
    if (part < 0 || __builtin_add_overflow(sum, of_arrays ? part : 0, &sum) ||
        __builtin_mul_overflow(product, of_arrays ? 1 : part, &product)) {
      return -1;
    }
  }
  // Arguments that are no tensors are [] too.
  return of_arrays || empty ? sum : product;
}

std::string_view first_string(value of) {
  simdjson::ondemand::array array;
  if (of.get_array().get(array) != simdjson::SUCCESS) {
    return {};
  }
  for (auto each : array) {
    value entry;
    if (each.get(entry) == simdjson::SUCCESS) {
      return string_of(entry);
    }
    break;
  }
  return {};
}

void take_argument(std::string_view key, value& of, Arguments& args) {
  struct Number {
    std::string_view key;
    int64_t Arguments::*field;
  };
  static constexpr Number kNumbers[] = {
      {"correlation", &Arguments::correlation},
      {"stream", &Arguments::stream},
      {"device", &Arguments::device},
      {"In msg nelems", &Arguments::input_elements},
      {"Out msg nelems", &Arguments::output_elements},
      {"Group size", &Arguments::group_size},
      {"Global rank start", &Arguments::first_rank},
      {"Global rank stride", &Arguments::rank_stride},
      {"Rank", &Arguments::rank},
      {"Src Rank", &Arguments::source_rank},
      {"Dst Rank", &Arguments::destination_rank},
      {"Seq", &Arguments::sequence},
      {"wait_on_stream", &Arguments::awaited_stream},
      {"wait_on_cuda_event_record_corr_id", &Arguments::event_record}};
  struct Text {
    std::string_view key;
    std::string_view Arguments::*field;
  };
  static constexpr Text kTexts[] = {{"Collective name", &Arguments::collective},
                                    {"dtype", &Arguments::dtype},
                                    {"Process Group Name", &Arguments::group_name},
                                    {"Process Group Description", &Arguments::group_description},
                                    {"Process Group Ranks", &Arguments::group_ranks}};
  for (const Number& number : kNumbers) {
    if (key == number.key) {
      args.*number.field = whole(of);
      return;
    }
  }
  for (const Text& text : kTexts) {
    if (key == text.key) {
      args.*text.field = string_of(of);
      args.has_group = args.has_group || text.field == &Arguments::group_name;
      return;
    }
  }
  if (key == "Input Dims") {
    args.tensor_elements = elements(of, 0);
  } else if (key == "Input type") {
    args.tensor_type = first_string(of);
  }
}

[[noreturn]] void refuse(simdjson::error_code error) {
  throw std::string("an event is no valid JSON: ") + simdjson::error_message(error);
}

void take_arguments(value& of, Arguments& args) {
  simdjson::ondemand::object object;
  if (of.get_object().get(object) != simdjson::SUCCESS) {
    return;
  }
  for (auto each : object) {
    simdjson::ondemand::field field;
    if (const auto error = std::move(each).get(field); error != simdjson::SUCCESS) {
      refuse(error);
    }
    take_argument(key_of(field), field.value(), args);
  }
}

int64_t time_of(std::string_view text, std::string_view what, std::string_view name) {
  const std::optional<int64_t> ns = nanoseconds(text);
  // Sums of a base, a time and a duration stay far from overflow.
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max() / 4;
  if (!ns || *ns > kMost || *ns < -kMost) {
    throw "the event '" + std::string(name.substr(0, 80)) + "' has the " + std::string(what) +
        " '" + std::string(text.substr(0, 40)) + "', " +
        (is_number(text) ? "which is too large" : "expected a number of microseconds");
  }
  return *ns;
}

}  // namespace

struct EventParser::Json {
  simdjson::ondemand::parser parser;
};

EventParser::EventParser() : json_(std::make_unique<Json>()) {}
EventParser::~EventParser() = default;

void EventParser::parse(std::string_view text, Event& event) {
  event = Event{};
  if (!may_matter(text)) {
    return;
  }
  simdjson::ondemand::document document;
  simdjson::ondemand::object object;
  auto error = json_->parser.iterate(text.data(), text.size(), text.size() + Scanner::kPadding)
                   .get(document);
  if (error != simdjson::SUCCESS || (error = document.get_object().get(object))) {
    refuse(error);
  }
  bool has_name = false;
  bool has_category = false;
  bool refined_already = false;
  char phase = '\0';
  std::string_view start;  // as written
  std::string_view duration;
  for (auto each : object) {
    simdjson::ondemand::field field;
    if ((error = std::move(each).get(field)) != simdjson::SUCCESS) {
      refuse(error);
    }
    const std::string_view key = key_of(field);
    value& of = field.value();
    if (key == "ph") {
      const std::string_view letter = scalar_text(of);
      phase = letter.size() == 1 ? letter[0] : '?';
      if (phase != 'X' && phase != 's') {
        return;
      }
    } else if (key == "cat") {
      event.category = category_of(scalar_text(of));
      has_category = true;
      if (event.category == Category::Ignored) {
        return;
      }
    } else if (key == "name") {
      event.name = string_of(of);
      has_name = true;
    } else if (key == "tid") {
      event.thread = thread_number(of);
    } else if (key == "ts") {
      start = scalar_text(of);
    } else if (key == "dur") {
      duration = scalar_text(of);
    } else if (key == "args") {
      take_arguments(of, event.args);
    }
    if (has_name && has_category && !refined_already) {
      event.category = refined(event.category, event.name);
      refined_already = true;
      if (event.category == Category::Ignored) {
        return;
      }
    }
  }
  const bool right_phase = event.category == Category::ForwardMark ? phase == 's' : phase == 'X';
  if (!refined_already || !right_phase) {
    event.category = Category::Ignored;
    return;
  }
  if (event.category == Category::AutogradOp) {
    return;
  }
  event.start = time_of(start, "time", event.name);
  if (event.category != Category::ForwardMark) {
    event.duration = time_of(duration, "duration", event.name);
  }
}

}  // namespace prism::kineto
