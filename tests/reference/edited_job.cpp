// SPDX-License-Identifier: Apache-2.0
/// edited_job TRACE EDIT: imports a micro-batch trace, and prints for each iteration one JSON
/// document, followed by a line with "---": the job as it is, and when its nodes run under the edit
/// `--scale EDIT`. For edits.py.
#include <cstdio>
#include <string>
#include <vector>

#include "core/analysis/edit.hpp"
#include "core/base/json.hpp"
#include "core/calibrate/calibrate.hpp"
#include "core/graph/dump.hpp"
#include "core/plugin/formats.hpp"
#include "core/plugin/registry.hpp"
#include "core/replay/engine.hpp"

namespace prism::reference {
namespace {

Result<calibrate::Observation> import_trace(const std::string& path) {
  plugin::Registry registry({.overrides = {}, .roots = {PRISM_PLUGIN_ROOT}});
  PRISM_TRY_ASSIGN(const auto session, plugin::open_format(registry, "microbatch", {}));
  return session->import_trace({{path, std::nullopt}});
}

Result<std::string> document(const graph::Job& job, const analysis::Edit& edit) {
  const analysis::Subject subject(job);
  graph::Times times;
  PRISM_TRY(edit.apply(subject, 0, times).status());
  replay::ReplayOptions options;
  options.critical_path = false;
  for (Rank rank = 0; rank < job.world_size; ++rank) {
    options.record.push_back(rank);
  }
  PRISM_TRY_ASSIGN(const replay::ReplayResult result, replay::replay(job, times, options));
  std::string text;
  JsonWriter json(text, JsonWriter::Layout::OneLine);
  json.begin_object();
  json.member("eager_bytes", options.eager_bytes);
  json.key("job");
  graph::dump(job, json);
  json.key("times").begin_array();
  for (const replay::RecordedTimes& rank : result.recorded) {
    json.begin_array();
    for (const replay::NodeTimes& node : rank.nodes) {
      json.value(node.start).value(node.end);
    }
    json.end_array();
  }
  json.end_array();
  json.end_object();
  return text;
}

Status print(const std::string& path, const std::string& text) {
  PRISM_TRY_ASSIGN(const analysis::Edit edit,
                   analysis::Edit::parse(analysis::Operation::Scale, text));
  PRISM_TRY_ASSIGN(const calibrate::Observation observation, import_trace(path));
  const calibrate::Iterations iterations(observation);
  for (const uint32_t iteration : iterations.numbers()) {
    // The times of a job that is made from one iteration are those of its programs.
    PRISM_TRY_ASSIGN(const calibrate::Calibrated calibrated,
                     calibrate::calibrate(iterations.cut(iteration), {}));
    PRISM_TRY_ASSIGN(const std::string one, document(calibrated.trace.kinds.front().job, edit));
    std::printf("%s\n---\n", one.c_str());
  }
  return {};
}

}  // namespace
}  // namespace prism::reference

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: edited_job TRACE EDIT\n");
    return 2;
  }
  const prism::Status status = prism::reference::print(argv[1], argv[2]);
  if (!status.ok()) {
    std::fprintf(stderr, "%s\n", status.to_string().c_str());
  }
  return status.ok() ? 0 : 1;
}
