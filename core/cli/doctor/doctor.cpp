// SPDX-License-Identifier: Apache-2.0
#include "core/cli/doctor/doctor.hpp"

#include <algorithm>

#include "core/base/json.hpp"
#include "core/cli/doctor/look.hpp"

namespace prism::cli {
namespace {

const char* name_of(State state) {
  switch (state) {
    case State::Ok:
      return "ok";
    case State::Limited:
      return "limited";
    case State::Absent:
      return "absent";
    case State::Needed:
      return "needed";
  }
  return "";
}

std::string padded(const std::string& text, size_t width) {
  return text + std::string(width - std::min(width, text.size()), ' ');
}

}  // namespace

bool DoctorReport::ready() const {
  return std::none_of(facts.begin(), facts.end(),
                      [](const Fact& fact) { return fact.state == State::Needed; });
}

DoctorReport collect(const DoctorOptions& options) {
  DoctorReport report;
  look_at_cpu(report.facts);
  look_at_memory(report.facts);
  look_at_limits(report.facts);
  look_at_system(report.facts);
  look_at_namespaces(options, report.facts);
  look_at_plugins(options, report.facts);
  const std::string nccl = look_at_python(options, report.facts);
  look_at_gpu(options, report.facts);
  look_at_nccl(options, nccl, report.facts);
  return report;
}

std::string render_text(const DoctorReport& report) {
  size_t width = 0;
  for (const Fact& fact : report.facts) {
    width = std::max(width, fact.id.size());
  }
  constexpr size_t kStateWidth = 7;
  std::string out;
  for (const Fact& fact : report.facts) {
    out += padded(fact.id, width) + "  " + padded(name_of(fact.state), kStateWidth) + "  " +
           fact.text + "\n";
    if (!fact.consequence.empty()) {
      out += std::string(width + kStateWidth + 4, ' ') + "-> " + fact.consequence + "\n";
    }
  }
  out += report.ready() ? "Ranks can be run on the CPU of this machine.\n"
                        : "Ranks cannot be run on this machine: see what is needed above.\n";
  return out;
}

std::string render_json(const DoctorReport& report) {
  std::string out;
  JsonWriter json(out);
  json.begin_object();
  json.member("schema", 1);
  json.member("ready", report.ready());
  json.key("facts").begin_array();
  for (const Fact& fact : report.facts) {
    json.begin_object();
    json.member("id", fact.id);
    json.member("state", name_of(fact.state));
    json.member("text", fact.text);
    if (fact.number) {
      json.member("number", *fact.number);
    }
    if (!fact.consequence.empty()) {
      json.member("consequence", fact.consequence);
    }
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return out + "\n";
}

}  // namespace prism::cli
