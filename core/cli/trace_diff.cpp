// SPDX-License-Identifier: Apache-2.0
#include "core/cli/trace_diff.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "core/base/text.hpp"
#include "core/cli/analysed_trace.hpp"
#include "core/cli/commands.hpp"
#include "core/cli/trace_diff_report.hpp"
#include "core/cli/trace_input.hpp"

namespace prism::cli {

const Usage kTraceDiff{
    "prism trace diff",
    "A B [--json] | --replicas FILE... [--json]",
    "Compares two traces of a job: first what they do, then how long each call takes and when it\n"
    "starts, beside what the ranks of one trace that do the same differ by.",
    {},
    with_trace_flags({{"replicas", "", "compare the ranks of one trace that do the same"},
                      {"json", "", "for programs"}}),
    "A, B: a trace each: a file, or a folder with the files of its ranks and nothing else.",
    "TRACE"};

namespace {

/// The files of a trace that is given as one word.
Result<std::vector<std::string>> files_of(const std::string& word) {
  std::error_code error;
  if (!std::filesystem::is_directory(word, error)) {
    return std::vector<std::string>{word};
  }
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(word, error)) {
    files.push_back(entry.path().string());
  }
  if (error || files.empty()) {
    return config_error("there are no files in the folder '" + word + "'");
  }
  std::sort(files.begin(), files.end());
  return files;
}

Result<AnalysedTrace> read_trace(const Arguments& arguments, const std::string& word) {
  PRISM_TRY_ASSIGN(const std::vector<std::string> files, files_of(word));
  return analysed_trace(arguments, files).context("reading '" + word + "'");
}

Result<TraceDiff> diff_of(const Arguments& arguments) {
  const std::vector<std::string> words = arguments.all("TRACE");
  TraceDiff diff;
  if (arguments.has("replicas")) {
    std::vector<std::string> files = words;
    if (words.size() == 1) {
      PRISM_TRY_ASSIGN(files, files_of(words.front()));
    }
    PRISM_TRY_ASSIGN(const AnalysedTrace trace, analysed_trace(arguments, files));
    diff.a = in_words(trace);
    for (const std::vector<Rank>& like : trace.subject().layout().like) {
      if (like.size() > 1) {
        diff.like.push_back(like);
      }
    }
    if (diff.like.empty()) {
      return run_error("no rank of the trace does what another one does: there are no replicas");
    }
    PRISM_TRY_ASSIGN(diff.deviations, analysis::between_replicas(trace.runs));
    return diff;
  }
  if (words.size() != 2) {
    return config_error("two traces are compared, not " + std::to_string(words.size()) +
                        "; a trace of several files is given as the folder that has them");
  }
  diff.between_traces = true;
  PRISM_TRY_ASSIGN(const AnalysedTrace a, read_trace(arguments, words[0]));
  PRISM_TRY_ASSIGN(const AnalysedTrace b, read_trace(arguments, words[1]));
  diff.a = in_words(a);
  diff.b = in_words(b);
  const size_t runs = std::min(a.runs.size(), b.runs.size());
  for (size_t i = 0; i < runs && diff.difference.empty(); ++i) {
    diff.difference = analysis::first_difference(a.runs[i].subject->job(), b.runs[i].subject->job(),
                                                 words[0], words[1]);
    diff.difference_in = a.runs[i].iteration;
  }
  diff.iterations = runs;
  diff.surplus_iterations = std::max(a.runs.size(), b.runs.size()) - runs;
  PRISM_TRY_ASSIGN(diff.deviations, analysis::between_traces(a.runs, b.runs));
  return diff;
}

}  // namespace

int trace_diff(const Arguments& arguments) {
  const Result<TraceDiff> diff = diff_of(arguments);
  if (!diff.ok()) {
    return report_error(diff.status());
  }
  const std::string text = arguments.has("json") ? render_json(*diff) : render_text(*diff);
  std::fputs(printable_lines(text).c_str(), stdout);
  return diff->difference.empty() ? 0 : 1;
}

}  // namespace prism::cli
