// SPDX-License-Identifier: Apache-2.0
#include "sdk/conformance/suite.hpp"

#include <iterator>

#include "prism/host/bind.hpp"
#include "sdk/conformance/format_interface.hpp"
#include "sdk/conformance/router_interface.hpp"
#include "sdk/conformance/tensor_source_interface.hpp"

namespace prism::conformance {

std::string kind_test(int stage, const Kind& kind, const char* what) {
  return "S" + std::to_string(stage) + "." + std::string(kind.name) + "." + what;
}

namespace {

/// "launcher" of "prism.launcher/1".
std::string kind_of(const std::string& interface) {
  const size_t dot = interface.find('.');
  return interface.substr(dot + 1, interface.rfind('/') - dot - 1);
}

}  // namespace

Suite suite_for(const Subject& subject) {
  std::vector<const Kind*> kinds;
  Suite other_options;
  Suite format_errors;
  Suite semantics;
  for (const std::string& interface : subject.interfaces) {
    if (interface == kRouterKind.id) {
      kinds.push_back(&kRouterKind);
      add_router_tests(semantics);
    } else if (interface == kTensorSourceKind.id) {
      kinds.push_back(&kTensorSourceKind);
      add_tensor_source_tests(semantics);
    } else if (interface == kFormatKind.id) {
      kinds.push_back(&kFormatKind);
      add_export_tests(semantics);
      add_import_tests(semantics);
      add_format_error_tests(format_errors);
    } else {
      if (host::knows(interface)) {
        add_option_table_test(other_options, kind_of(interface), interface);
      }
      bool draft = false;
      for (const std::string& id : subject.drafts) {
        draft = draft || id == interface;
      }
      add_unknown_semantics(semantics, interface, draft);
    }
  }
  Suite suite;
  add_file_tests(suite, subject);
  add_load_tests(suite);
  add_identity_tests(suite);
  add_lifecycle_tests(suite, kinds);
  add_option_tests(suite, kinds);
  suite.insert(suite.end(), std::make_move_iterator(other_options.begin()),
               std::make_move_iterator(other_options.end()));
  suite.insert(suite.end(), semantics.begin(), semantics.end());
  add_error_tests(suite, kinds);
  suite.insert(suite.end(), std::make_move_iterator(format_errors.begin()),
               std::make_move_iterator(format_errors.end()));
  add_compatibility_tests(suite, kinds);
  add_thread_tests(suite, kinds);
  add_determinism_tests(suite, kinds);
  add_unload_tests(suite);
  return suite;
}

void add_unknown_semantics(Suite& suite, const std::string& interface, bool draft) {
  suite.push_back({"S5." + interface,
                   "What the functions of " + interface + " do is not tested.",
                   [=](Context&) {
                     skip(draft ? "draft: what its functions do is not tested yet"
                                : "this program does not know the interface " + interface);
                   },
                   {"S2.interfaces"}});
}

}  // namespace prism::conformance
