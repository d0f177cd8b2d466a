// SPDX-License-Identifier: Apache-2.0
#include "core/cli/verification.hpp"

#include <algorithm>
#include <cmath>

#include "core/cli/spread_json.hpp"
#include "core/cli/table.hpp"

namespace prism::cli {
namespace {

std::string taken_text(const schedule::CoreUsage& usage) {
  return "host " + format_percent(usage.stolen_share()) + ", other programs " +
         format_percent(usage.others_share());
}

std::string link_text(const link::Link& link) {
  return "latency " + format_duration(link.latency_ns) + ", per message " +
         format_duration(link.per_message_ns) + ", bandwidth " + format_bytes(link.bandwidth_Bps) +
         "/s, reduction " + format_bytes(link.reduce_bandwidth_Bps) + "/s, copy " +
         format_bytes(link.copy_bandwidth_Bps) + "/s";
}

void write_usage(JsonWriter& json, std::string_view name, const schedule::CoreUsage& usage) {
  json.key(name).begin_object();
  json.member("stolen", usage.stolen_share());
  json.member("others", usage.others_share());
  json.end_object();
}

}  // namespace

std::string verification_text(const Verification& v) {
  const double error = static_cast<double>(v.predicted.median - v.measured.median) /
                       static_cast<double>(std::max<DurationNs>(1, v.measured.median));
  Table table({"at " + count_of(v.world_size, "rank"), "iteration", "95 % from", "to"});
  const auto row = [&table](const std::string& name, const Spread& spread) {
    table.add({name, format_duration(spread.median), format_duration(spread.low),
               format_duration(spread.high)});
  };
  row("measured", v.measured);
  row("predicted", v.predicted);
  std::string text = "for real on this machine (torchrun, gloo) beside the prediction for it, " +
                     count_of(v.links.size(), "round") + "\n" + table.to_string() +
                     "  predicted is " + format_percent(std::abs(error)) +
                     (error >= 0 ? " above" : " below") + " measured\n";
  if (!v.args_given) {
    text +=
        "  arguments unchanged: there is no [verify." + std::to_string(v.world_size) + "] args\n";
  }
  if (v.late_aborts > 0) {
    text += "  " + count_of(v.late_aborts, "rank") +
            " aborted at exit after training had ended well (gloo)\n";
  }
  for (size_t round = 0; round < v.links.size(); ++round) {
    text += "  link of this machine, round " + std::to_string(round + 1) + ": " +
            link_text(v.links[round]) + "\n";
  }
  return text;
}

std::optional<std::string> note_taken_cores(const Verification& v) {
  constexpr double kUndisturbed = 0.05;  // less than what iterations differ by anyway
  const auto taken = [](const schedule::CoreUsage& usage) {
    return usage.stolen_share() + usage.others_share();
  };
  if (taken(v.while_real) < kUndisturbed && taken(v.while_recorded) < kUndisturbed) {
    return std::nullopt;
  }
  return "of the time that the ranks' cores were wanted, others took a part: during the real "
         "runs " +
         taken_text(v.while_real) + "; during the recordings " + taken_text(v.while_recorded) +
         ". Measured and predicted may differ by that alone: verify again on a machine at rest";
}

void write_verification(JsonWriter& json, const Verification& v) {
  json.key("verify").begin_object();
  json.member("world_size", v.world_size);
  json.member("rounds", v.links.size());
  write_spread(json, "predicted", v.predicted);
  write_spread(json, "measured", v.measured);
  write_usage(json, "taken_while_recorded", v.while_recorded);
  write_usage(json, "taken_while_real", v.while_real);
  json.member("late_aborts", v.late_aborts);
  json.end_object();
}

}  // namespace prism::cli
