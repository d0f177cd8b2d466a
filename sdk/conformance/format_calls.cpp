// SPDX-License-Identifier: Apache-2.0
#include "sdk/conformance/format_calls.hpp"

#include <filesystem>

#include "prism/sdk/random.hpp"
#include "prism/sdk/testing/fake_trace_reader.hpp"
#include "prism/sdk/text.hpp"

namespace prism::conformance {
namespace {

prism_format_session_t* of(void* session) {
  return static_cast<prism_format_session_t*>(session);
}

}  // namespace

std::string make_export_place(const prism_format_t& table, const TestFolder& folder,
                              const std::string& name) {
  return table.exports_folder != 0 ? folder.make_folder(name) : folder.write(name, "");
}

prism_status_t call_export(const prism_format_t& table, void* session, const Timeline& timeline,
                           const std::string& path, const prism_error_sink_t* err) {
  const sdk::testing::FakeTraceReader reader(timeline.ranks);
  return table.export_trace(of(session), &reader.c(), sdk::to_c(path), err);
}

prism_status_t call_import(const prism_format_t& table, void* session,
                           const std::vector<std::string>& files, const prism_trace_sink_t* sink,
                           const prism_error_sink_t* err) {
  std::vector<prism_trace_input_t> inputs;
  inputs.reserve(files.size());
  for (const std::string& file : files) {
    inputs.push_back({sizeof(prism_trace_input_t), PRISM_UNKNOWN_RANK, sdk::to_c(file)});
  }
  return table.import_trace(of(session), inputs.data(), inputs.size(), sink, err);
}

std::vector<std::string> exported_files(const prism_format_t& table, void* session,
                                        const TestFolder& folder) {
  std::vector<std::string> files;
  for (const auto& [name, content] : folder.content()) {
    const std::string path = folder.path(name);
    if (std::filesystem::is_regular_file(path) &&
        (table.recognises == nullptr || table.recognises(of(session), sdk::to_c(path)) != 0)) {
      files.push_back(path);
    }
  }
  return files;
}

std::string random_bytes(uint64_t seed, size_t size) {
  sdk::Random random(sdk::mix({seed, size}));
  std::string bytes(size, '\0');
  for (char& byte : bytes) {
    byte = static_cast<char>(random.below(256));
  }
  return bytes;
}

}  // namespace prism::conformance
