// SPDX-License-Identifier: Apache-2.0
/// A session of a plugin's format, for its unit tests (fake_host.hpp):
///
///   FormatSession format(plugin, {{"clock", "own"}});
///   TraceRecord record;
///   format.import_trace({"rank0.txt"}, record);                    // what it tells is in the
///   record format.export_trace(FakeTraceReader(record.ranks), "out.txt"); std::string words =
///   failure([&] { format.import_trace({"nowhere"}, record); });
#pragma once

#include <string>
#include <vector>

#include "prism/abi/draft/format.h"
#include "prism/sdk/testing/fake_host.hpp"
#include "prism/sdk/testing/fake_trace_reader.hpp"
#include "prism/sdk/testing/trace_record.hpp"
#include "prism/sdk/text.hpp"

namespace prism::sdk::testing {

class FormatSession : public Session<prism_format_t, prism_format_session_t> {
 public:
  explicit FormatSession(const Plugin& plugin, const Options& options = {})
      : Session(plugin, PRISM_FORMAT_1, options) {}

  /// Throws Failure where the format leaves that to the user.
  bool recognises(const std::string& path) {
    need(table_.recognises != nullptr, "the format has no recognises()");
    return table_.recognises(handle_, to_c(path)) != 0;
  }

  /// Files of one trace that say of which rank they are. Throws Failure.
  void import_trace(const std::vector<std::string>& paths, TraceRecord& record) {
    need(table_.import_trace != nullptr, "the format has no import_trace()");
    std::vector<prism_trace_input_t> inputs;
    inputs.reserve(paths.size());
    for (const std::string& path : paths) {
      inputs.push_back({sizeof(prism_trace_input_t), PRISM_UNKNOWN_RANK, to_c(path)});
    }
    const host::ErrorSink error;
    detail::check(
        table_.import_trace(handle_, inputs.data(), inputs.size(), &record.c(), error.c()), error);
  }

  /// `path`: a file, or a folder that is there, see kExportsFolder. Throws Failure.
  void export_trace(const FakeTraceReader& reader, const std::string& path) {
    need(table_.export_trace != nullptr, "the format has no export_trace()");
    const host::ErrorSink error;
    detail::check(table_.export_trace(handle_, &reader.c(), to_c(path), error.c()), error);
  }

 private:
  static void need(bool there, const char* otherwise) {
    if (!there) {
      throw Failure(PRISM_STATUS_UNIMPLEMENTED, otherwise);
    }
  }
};

}  // namespace prism::sdk::testing
