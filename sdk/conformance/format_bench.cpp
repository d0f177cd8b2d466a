// SPDX-License-Identifier: Apache-2.0
#include "sdk/conformance/format_bench.hpp"

#include <filesystem>

#include "prism/sdk/text.hpp"
#include "sdk/conformance/format_interface.hpp"

namespace prism::conformance {
namespace {

std::optional<Refusal> refusal_of(prism_status_t status, const StrictSink& sink,
                                  const std::string& what) {
  if (status == PRISM_STATUS_OK) {
    return std::nullopt;
  }
  const std::string problem = sink.problem(status);
  require(problem.empty(), what + " " + problem);
  return Refusal{status, sink.message()};
}

}  // namespace

std::string file_name(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

void require_names(const Refusal& refusal, const std::string& path, const std::string& what) {
  require(refusal.words.find(file_name(path)) != std::string::npos,
          what + " does not name the file '" + file_name(path) + "' (its words: " + refusal.words +
              ")");
}

FormatBench::FormatBench(Context& context)
    : context_(context),
      bench_(context, kFormatKind),
      table_(*static_cast<const prism_format_t*>(bench_.plugin().get_interface(PRISM_FORMAT_1))),
      session_(bench_.open()) {}

void FormatBench::need_imports() const {
  if (!imports()) {
    skip("it exports only");
  }
}

void FormatBench::need_exports() const {
  if (!exports()) {
    skip("it imports only");
  }
}

bool FormatBench::recognises(const std::string& path, const std::string& what) {
  context_.doing("recognises() of " + what);
  const uint8_t answer =
      table_.recognises(static_cast<prism_format_session_t*>(session_.handle()), sdk::to_c(path));
  require(answer <= 1,
          "recognises() of " + what + " answers " + std::to_string(answer) + ", not 0 or 1");
  return answer == 1;
}

std::optional<Refusal> FormatBench::import_files(const std::vector<std::string>& files,
                                                 const ToldTrace& told, const std::string& what) {
  context_.doing("import_trace() of " + what);
  const StrictSink sink;
  const prism_status_t status = call_import(table_, session_.handle(), files, told.c(), sink.c());
  return refusal_of(status, sink, "import_trace() of " + what);
}

std::optional<Refusal> FormatBench::export_to(const std::string& path, const Timeline& timeline,
                                              const std::string& what) {
  context_.doing("export_trace() of " + what);
  const StrictSink sink;
  const prism_status_t status = call_export(table_, session_.handle(), timeline, path, sink.c());
  return refusal_of(status, sink, "export_trace() of " + what);
}

std::vector<std::string> FormatBench::own_files(const TestFolder& folder) const {
  return exported_files(table_, session_.handle(), folder);
}

std::vector<std::string> FormatBench::good_files(const TestFolder& folder) {
  if (!context_.subject().samples.empty()) {
    std::vector<std::string> files;
    files.reserve(context_.subject().samples.size());
    for (const std::string& sample : context_.subject().samples) {
      const std::string name = file_name(sample);
      files.push_back(folder.write(name, read_test_file(sample)));
    }
    return files;
  }
  if (!exports()) {
    skip(std::string(kNoSample) + "name one with --sample FILE");
  }
  const Timeline plain = plain_timeline();
  const auto refusal = export_to(make_export_place(table_, folder), plain, plain.what);
  if (refusal) {
    fail("export_trace() of " + plain.what + " fails: " + refusal->words);
  }
  std::vector<std::string> files = own_files(folder);
  require(!files.empty(), "recognises() none of the files that export_trace() wrote");
  return files;
}

}  // namespace prism::conformance
