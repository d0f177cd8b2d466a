// SPDX-License-Identifier: Apache-2.0
// S4: the option table, and what open() makes of values.
#include <cmath>
#include <iterator>
#include <limits>

#include "prism/host/bind.hpp"
#include "prism/sdk/random.hpp"
#include "sdk/conformance/library.hpp"
#include "sdk/conformance/suite.hpp"

namespace prism::conformance {
namespace {

using Values = std::vector<prism_option_value_t>;

std::string name_of_row(const prism_option_t& row) {
  return "option '" + host::clean_text(row.name) + "'";
}

/// Opens a session with these values; whether that succeeded. A refusal must be a proper one.
bool open_with(Bench& bench, const Values& values, uint64_t count, const std::string& what,
               std::string& words) {
  bench.context().doing("open() with " + what);
  void* session = nullptr;
  const StrictSink sink;
  const prism_status_t status = bench.interface().open(values.data(), count, &session, sink.c());
  if (status != PRISM_STATUS_OK) {
    const std::string problem = sink.problem(status);
    require(problem.empty(), "open() with " + what + " " + problem);
    words = sink.message();
    return false;
  }
  bench.context().doing("close() after open() with " + what);
  bench.interface().close(session);
  return true;
}

bool has_whole_bounds(const prism_option_t& row) {
  return (row.type == PRISM_OPTION_INT || row.type == PRISM_OPTION_DURATION ||
          row.type == PRISM_OPTION_BYTES) &&
         (row.min != 0 || row.max != 0);
}
bool has_real_bounds(const prism_option_t& row) {
  return row.type == PRISM_OPTION_FLOAT && (row.real_min != 0 || row.real_max != 0);
}

/// Needs nothing of the interface but its options, which every one has.
void table(Context& context, const std::string& id) {
  Plugin plugin(context);
  const void* interface = plugin.get_interface(id);
  const std::string problem = host::check_interface(id, interface);
  require(problem.empty(), problem);
  const prism_option_table_t options = host::interface_options(id, interface);
  require(options.count == 0 || options.stride % alignof(prism_option_t) == 0,
          "the rows of its option table are " + std::to_string(options.stride) +
              " bytes apart, which is no multiple of " + std::to_string(alignof(prism_option_t)));
  for (uint64_t i = 0; i < options.count; ++i) {
    const prism_option_t& row = host::option_row(options, i);
    require(!has_whole_bounds(row) || row.min <= row.max,
            name_of_row(row) + " has a smallest value above its largest");
    require(!has_real_bounds(row) || row.real_min <= row.real_max,
            name_of_row(row) + " has a smallest value above its largest");
    require(row.choice_count == 0 || row.type == PRISM_OPTION_STRING,
            name_of_row(row) + " has choices, which only a text can have");
    require(row.required == 0 || row.default_text.len == 0,
            name_of_row(row) + " must be given and has a default, which is never used");
    require(row.doc.len > 0, name_of_row(row) + " has no documentation");
  }
  const OptionReading reading = context.subject().read_options(options);
  if (!reading.problem.empty() && reading.of_user) {
    skip(std::string(kNoOptions) + reading.problem);
  }
  require(reading.problem.empty(), reading.problem);
}

/// Every bound and every choice, one at a time. A plugin may refuse one, since options may not fit
/// together; the author is told.
void allowed_values(Context& context, const Kind& kind) {
  Bench bench(context, kind);
  std::string refused;
  const auto attempt = [&](uint64_t i, const std::string& shown, auto set) {
    Values values = bench.values();  // afresh: the texts are borrowed
    values[i].set = 1;
    values[i].type = host::option_row(bench.table(), i).type;
    set(values[i]);
    const std::string what = name_of_row(host::option_row(bench.table(), i)) + " = " + shown;
    std::string words;
    if (!open_with(bench, values, values.size(), what, words)) {
      refused += (refused.empty() ? "" : "; ") + what + ": " + words;
    }
  };
  for (uint64_t i = 0; i < bench.table().count; ++i) {
    const prism_option_t& row = host::option_row(bench.table(), i);
    if (row.type == PRISM_OPTION_BOOL) {
      for (const uint8_t truth : {uint8_t{0}, uint8_t{1}}) {
        attempt(i, truth != 0 ? "true" : "false",
                [&](prism_option_value_t& value) { value.u.boolean = truth; });
      }
    }
    if (has_whole_bounds(row)) {
      for (const int64_t bound : {row.min, row.max}) {
        const bool none = bound == std::numeric_limits<int64_t>::min() ||
                          bound == std::numeric_limits<int64_t>::max();
        if (!none) {
          attempt(i, std::to_string(bound),
                  [&](prism_option_value_t& value) { value.u.integer = bound; });
        }
      }
    }
    if (has_real_bounds(row)) {
      for (const double bound : {row.real_min, row.real_max}) {
        if (std::isfinite(bound)) {
          attempt(i, std::to_string(bound),
                  [&](prism_option_value_t& value) { value.u.real = bound; });
        }
      }
    }
    for (uint64_t c = 0; c < row.choice_count; ++c) {
      attempt(i, "'" + host::clean_text(row.choices[c]) + "'",
              [&](prism_option_value_t& value) { value.u.text = row.choices[c]; });
    }
  }
  if (!refused.empty()) {
    warn("refuses values that its option table allows: " + refused);
  }
}

void wrong_values(Context& context, const Kind& kind) {
  Bench bench(context, kind);
  std::string words;
  const Values good = bench.values();
  for (uint64_t i = 0; i < good.size(); ++i) {
    Values values = good;
    // A type of another kind of value: where it is taken for the right one, a number becomes an
    // address or the reverse.
    const bool text = values[i].type == PRISM_OPTION_STRING || values[i].type == PRISM_OPTION_PATH;
    values[i].set = 1;
    values[i].type = text ? PRISM_OPTION_INT : PRISM_OPTION_STRING;
    values[i].u.text = {nullptr, 0};
    const std::string what =
        "a value of the wrong type for " + name_of_row(host::option_row(bench.table(), i));
    require(!open_with(bench, values, values.size(), what, words), "open() accepts " + what);
  }
  if (!good.empty()) {
    require(!open_with(bench, good, good.size() - 1, "one value too few", words),
            "open() accepts one value too few");
  }
  Values surplus = good;
  surplus.push_back({});
  require(!open_with(bench, surplus, surplus.size(), "one value too many", words),
          "open() accepts one value too many");
}

/// Values that no host would let pass: open() may take or refuse them, but must come back.
void fuzz(Context& context, const Kind& kind) {
  constexpr int kRounds = 200;
  constexpr int64_t kOddIntegers[] = {
      std::numeric_limits<int64_t>::min(), -1, 0, 1, 255, int64_t{1} << 31,
      std::numeric_limits<int64_t>::max()};
  const double odd_reals[] = {
      std::numeric_limits<double>::quiet_NaN(),  std::numeric_limits<double>::infinity(),
      -std::numeric_limits<double>::infinity(),  -0.0,
      std::numeric_limits<double>::denorm_min(), std::numeric_limits<double>::max()};
  const std::string odd_texts[] = {"",         std::string(1, '\0'), std::string(100'000, 'x'),
                                   "\xff\xfe", "%s%s%s%n",           "../../../../etc/passwd"};
  Bench bench(context, kind);
  sdk::Random random(sdk::mix({context.seed(), 4}));
  for (int round = 0; round < kRounds; ++round) {
    Values values = bench.values();
    for (prism_option_value_t& value : values) {
      const uint64_t pick = random.below(3);
      if (pick == 0) {
        continue;
      }
      value.set = pick == 1 ? 1 : static_cast<uint8_t>(random.below(2));
      switch (value.type) {
        case PRISM_OPTION_BOOL:
          value.u.boolean = static_cast<uint8_t>(random.below(256));
          break;
        case PRISM_OPTION_FLOAT:
          value.u.real = odd_reals[random.below(std::size(odd_reals))];
          break;
        case PRISM_OPTION_STRING:
        case PRISM_OPTION_PATH: {
          const std::string& text = odd_texts[random.below(std::size(odd_texts))];
          value.u.text = {text.data(), text.size()};
          break;
        }
        default:
          value.u.integer = kOddIntegers[random.below(std::size(kOddIntegers))];
      }
    }
    std::string words;
    open_with(bench, values, values.size(), "random values, round " + std::to_string(round), words);
  }
}

}  // namespace

void add_option_table_test(Suite& suite, const std::string& kind, const std::string& id) {
  suite.push_back({"S4." + kind + ".table",
                   "The option table is in order, each default valid.",
                   [id](Context& c) { table(c, id); },
                   {"S2.interfaces"}});
}

void add_option_tests(Suite& suite, const std::vector<const Kind*>& kinds) {
  for (const Kind* kind : kinds) {
    const std::string open = kind_test(3, *kind, "open_close");
    const std::string first = kind_test(4, *kind, "table");
    add_option_table_test(suite, std::string(kind->name), std::string(kind->id));
    suite.push_back({kind_test(4, *kind, "allowed_values"),
                     "Each bound and each choice is taken, or refused with a reason.",
                     [kind](Context& c) { allowed_values(c, *kind); },
                     {first, open}});
    suite.push_back({kind_test(4, *kind, "wrong_values"),
                     "Values of the wrong type or number are refused with a reason.",
                     [kind](Context& c) { wrong_values(c, *kind); },
                     {first, open}});
    suite.push_back({kind_test(4, *kind, "fuzz"),
                     "Random values do not end the process.",
                     [kind](Context& c) { fuzz(c, *kind); },
                     {first, open}});
  }
}

}  // namespace prism::conformance
