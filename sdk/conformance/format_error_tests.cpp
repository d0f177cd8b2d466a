// SPDX-License-Identifier: Apache-2.0
// S6 of formats: an error names the file or the path, for the user who gave it.
#include "sdk/conformance/format_bench.hpp"
#include "sdk/conformance/format_interface.hpp"
#include "sdk/conformance/suite.hpp"

namespace prism::conformance {
namespace {

struct NoTrace {
  std::string path;
  const char* what;
};

void names_file(Context& context) {
  FormatBench bench(context);
  bench.need_imports();
  const TestFolder folder;
  const NoTrace cases[] = {
      {folder.path("nowhere-7.0.et"), "a file that is not there"},
      {folder.path("nowhere-7/inside.json"), "a file in a folder that is not there"},
      {folder.make_folder("folder-7.csv"), "a folder"},
      {folder.write("empty-7.json", ""), "an empty file"}};
  for (const NoTrace& one : cases) {
    ToldTrace told;
    const std::optional<Refusal> refusal = bench.import_files({one.path}, told, one.what);
    const std::string what = std::string("import_trace() of ") + one.what;
    if (!refusal) {
      fail(what + " succeeds");
    }
    require_names(*refusal, one.path, what);
  }
}

void names_path(Context& context) {
  FormatBench bench(context);
  bench.need_exports();
  const TestFolder folder;
  const bool into_folder = bench.table().exports_folder != 0;
  const NoTrace cases[] = {
      {folder.path("nowhere-7/export-7"), "into a folder that is not there"},
      {into_folder ? folder.write("other-7", "") : folder.make_folder("other-7"),
       into_folder ? "into what is a file" : "to what is a folder"}};
  for (const NoTrace& one : cases) {
    const std::optional<Refusal> refusal = bench.export_to(one.path, plain_timeline(), one.what);
    const std::string what = std::string("export_trace() ") + one.what;
    if (!refusal) {
      fail(what + " succeeds");
    }
    require_names(*refusal, one.path, what);
  }
}

}  // namespace

void add_format_error_tests(Suite& suite) {
  const std::string messages = kind_test(6, kFormatKind, "messages");
  suite.push_back({kind_test(6, kFormatKind, "names_file"),
                   "What is no trace is refused with its name, be it empty, a folder or not there.",
                   names_file,
                   {messages}});
  suite.push_back({kind_test(6, kFormatKind, "names_path"),
                   "A path that cannot be written is refused with its name.",
                   names_path,
                   {messages}});
}

}  // namespace prism::conformance
