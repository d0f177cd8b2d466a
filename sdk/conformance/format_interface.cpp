// SPDX-License-Identifier: Apache-2.0
#include "sdk/conformance/format_interface.hpp"

#include <functional>
#include <utility>
#include <vector>

#include "prism/abi/draft/format.h"
#include "sdk/conformance/format_calls.hpp"
#include "sdk/conformance/told_trace.hpp"

namespace prism::conformance {
namespace {

/// A call whose output is compared with that of another time.
struct Request {
  std::string what;
  std::function<prism_status_t(void* session, std::string& output, const prism_error_sink_t* err)>
      serve;
};

class FormatInterface : public Interface {
 public:
  FormatInterface(const prism_format_t& table, const Subject& subject, uint64_t seed)
      : table_(table) {
    if (table_.export_trace != nullptr) {
      add_exports();
    }
    if (table_.import_trace != nullptr) {
      add_imports(subject, seed);
    }
  }

  const prism_option_table_t& options() const override { return table_.options; }
  prism_status_t open(const prism_option_value_t* values, uint64_t count, void** session,
                      const prism_error_sink_t* err) const override {
    return table_.open(values, count, reinterpret_cast<prism_format_session_t**>(session), err);
  }
  void close(void* session) const override {
    table_.close(static_cast<prism_format_session_t*>(session));
  }

  size_t request_count() const override { return requests_.size(); }
  std::string describe(size_t request) const override { return requests_[request].what; }
  prism_status_t serve(void* session, size_t request, Placement /*a draft's structs are exact*/,
                       std::string& output, const prism_error_sink_t* err) const override {
    return requests_[request].serve(session, output, err);
  }

  size_t invalid_count() const override { return invalid_.size(); }
  std::string describe_invalid(size_t request) const override { return invalid_[request].what; }
  prism_status_t serve_invalid(void* session, size_t request,
                               const prism_error_sink_t* err) const override {
    std::string output;
    return invalid_[request].serve(session, output, err);
  }

 private:
  prism_status_t import_files(void* session, const std::vector<std::string>& files,
                              std::string& output, const prism_error_sink_t* err) const {
    ToldTrace told;
    const prism_status_t status = call_import(table_, session, files, told.c(), err);
    if (status == PRISM_STATUS_OK) {
      output += told.text();
    }
    return status;
  }

  /// The bytes of each, and what becomes of them where the format also imports.
  void add_exports() {
    for (Timeline& timeline : timelines()) {
      std::string what = "export_trace() of " + timeline.what;
      requests_.push_back(
          {std::move(what), [this, timeline = std::move(timeline)](
                                void* session, std::string& output, const prism_error_sink_t* err) {
             const TestFolder folder;
             const std::string path = make_export_place(table_, folder);
             const prism_status_t status = call_export(table_, session, timeline, path, err);
             if (status != PRISM_STATUS_OK) {
               return status;
             }
             for (const auto& [name, content] : folder.content()) {
               output += name + "\n" + content;
             }
             return table_.import_trace == nullptr
                        ? status
                        : import_files(session, exported_files(table_, session, folder), output,
                                       err);
           }});
    }
    invalid_.push_back({"export_trace() into a folder that is not there",
                        [this](void* session, std::string&, const prism_error_sink_t* err) {
                          const TestFolder folder;
                          return call_export(table_, session, plain_timeline(),
                                             folder.path("nowhere/export"), err);
                        }});
  }

  void add_imports(const Subject& subject, uint64_t seed) {
    if (!subject.samples.empty()) {
      requests_.push_back({"import_trace() of the sample",
                           [this, files = subject.samples](void* session, std::string& output,
                                                           const prism_error_sink_t* err) {
                             return import_files(session, files, output, err);
                           }});
    }
    requests_.push_back(
        {"import_trace() of random bytes",
         [this, seed](void* session, std::string& output, const prism_error_sink_t* err) {
           const TestFolder folder;
           return import_files(session, {folder.write("random.bin", random_bytes(seed, 500))},
                               output, err);
         }});
    invalid_.push_back({"import_trace() of a file that is not there",
                        [this](void* session, std::string& output, const prism_error_sink_t* err) {
                          const TestFolder folder;
                          return import_files(session, {folder.path("nowhere")}, output, err);
                        }});
    invalid_.push_back({"import_trace() of an empty file",
                        [this](void* session, std::string& output, const prism_error_sink_t* err) {
                          const TestFolder folder;
                          return import_files(session, {folder.write("empty", "")}, output, err);
                        }});
  }

  const prism_format_t& table_;
  std::vector<Request> requests_;
  std::vector<Request> invalid_;
};

}  // namespace

const Kind kFormatKind = {
    "format", PRISM_FORMAT_1,
    [](const void* table, const Subject& subject, uint64_t seed) -> std::unique_ptr<Interface> {
      return std::make_unique<FormatInterface>(*static_cast<const prism_format_t*>(table), subject,
                                               seed);
    },
    true, true};

}  // namespace prism::conformance
