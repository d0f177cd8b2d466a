// SPDX-License-Identifier: Apache-2.0
#include "sdk/conformance/drawn_options.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "prism/host/bind.hpp"
#include "prism/host/text.hpp"

namespace prism::conformance {
namespace {

/// Small ones as often as large ones: a plugin meets 2 more often than 2^29.
int64_t draw_whole(int64_t min, int64_t max, sdk::Random& random) {
  const uint64_t most = static_cast<uint64_t>(max) - static_cast<uint64_t>(min);
  const uint64_t range = random.below(2) == 0 ? std::min<uint64_t>(most, 16) : most;
  const uint64_t above = range == ~uint64_t{0} ? random() : random.below(range + 1);
  return static_cast<int64_t>(static_cast<uint64_t>(min) + above);
}

/// What was drawn for the option, in words; empty: nothing was.
std::string draw(const prism_option_t& row, prism_option_value_t& value, sdk::Random& random) {
  switch (row.type) {
    case PRISM_OPTION_BOOL:
      value.u.boolean = static_cast<uint8_t>(random.below(2));
      return value.u.boolean != 0 ? "true" : "false";
    case PRISM_OPTION_INT:
    case PRISM_OPTION_DURATION:
    case PRISM_OPTION_BYTES: {
      const bool below = row.min != std::numeric_limits<int64_t>::min();
      const bool above = row.max != std::numeric_limits<int64_t>::max();
      if ((row.min == 0 && row.max == 0) || row.min > row.max || (!below && !above)) {
        return {};
      }
      // A host has no times and sizes below 0.
      const int64_t least = row.type == PRISM_OPTION_INT ? row.min : std::max<int64_t>(row.min, 0);
      value.u.integer = draw_whole(least, row.max, random);
      return std::to_string(value.u.integer);
    }
    case PRISM_OPTION_FLOAT: {
      const double range = row.real_max - row.real_min;
      if ((row.real_min == 0 && row.real_max == 0) || !(range >= 0) || !std::isfinite(range)) {
        return {};
      }
      constexpr uint64_t kSteps = 16;
      value.u.real =
          row.real_min + range * (static_cast<double>(random.below(kSteps + 1)) / kSteps);
      return std::to_string(value.u.real);
    }
    case PRISM_OPTION_STRING:
      if (row.choice_count == 0) {
        return {};
      }
      value.u.text = row.choices[random.below(row.choice_count)];
      return "'" + host::clean_text(value.u.text) + "'";
    default:
      return {};
  }
}

}  // namespace

std::string draw_options(const prism_option_table_t& table,
                         std::vector<prism_option_value_t>& values, sdk::Random& random) {
  std::string words;
  for (uint64_t i = 0; i < table.count; ++i) {
    const prism_option_t& row = host::option_row(table, i);
    const std::string drawn = draw(row, values[i], random);
    if (!drawn.empty()) {
      values[i].set = 1;
      words += (words.empty() ? "" : ", ") + host::clean_text(row.name) + " = " + drawn;
    }
  }
  return words;
}

}  // namespace prism::conformance
