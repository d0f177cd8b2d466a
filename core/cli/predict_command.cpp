// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "core/base/text.hpp"
#include "core/cli/commands.hpp"
#include "core/cli/prediction_report.hpp"
#include "core/cli/trace_input.hpp"

namespace prism::cli {
namespace {

constexpr uint32_t kDraws = 40;

const Usage kUsage{
    "prism predict",
    "FILE... [--draws N] [--json]",
    "Replays a trace, or the calibrated.prism of a run, and prints its iteration time: the "
    "median,\n"
    "and where 95 % of the iterations lie; then the same with the noise that ranks have\n"
    "independently of each other drawn for each of them, since a collective waits for the slowest.",
    {},
    with_trace_flags({{"draws", "N", "replays with drawn noise; 0: none; default: 40"},
                      {"json", "", "for programs"}}),
    kTraceFiles,
    "FILE"};

Result<std::string> predict(const Arguments& arguments) {
  int64_t draws = kDraws;
  if (arguments.has("draws")) {
    PRISM_TRY_ASSIGN(draws, integer_value(arguments, "draws", 0, 100'000));
  }
  PRISM_TRY_ASSIGN(const calibrate::Calibrated calibrated, calibrated_input(arguments));
  PRISM_TRY_ASSIGN(const PredictionReport report,
                   predict_trace(calibrated.trace, static_cast<uint32_t>(draws)));
  return arguments.has("json") ? render_json(report) : render_text(report);
}

int run(const Arguments& arguments) {
  const Result<std::string> text = predict(arguments);
  if (!text.ok()) {
    return report_error(text.status());
  }
  std::fputs(printable_lines(*text).c_str(), stdout);
  return 0;
}

}  // namespace

int predict_command(const Words& words) {
  return run_parsed(kUsage, words, run);
}

}  // namespace prism::cli
