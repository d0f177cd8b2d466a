// SPDX-License-Identifier: Apache-2.0
/// All conformance tests, by stage:
///
///   S0 file, S1 load, S2 identity, S3 lifecycle, S4 options, S5 semantics of the kind, S6 errors,
///   S7 compatibility, S8 threads, S9 determinism, S10 unload
#pragma once

#include <string>
#include <vector>

#include "sdk/conformance/interface.hpp"
#include "sdk/conformance/test.hpp"

namespace prism::conformance {

using Suite = std::vector<Test>;

constexpr int kLastStage = 10;

/// The tests for this plugin, by its manifest, in the order of stages. Those that compare results
/// depend on S9.KIND.repeat: a plugin that never gives the same twice is told that, and no more.
Suite suite_for(const Subject& subject);

/// "S5.router.counts", the name of a test of one kind.
std::string kind_test(int stage, const Kind& kind, const char* what);

// One function per file of tests.
void add_file_tests(Suite& suite, const Subject& subject);
void add_load_tests(Suite& suite);
void add_identity_tests(Suite& suite);
void add_lifecycle_tests(Suite& suite, const std::vector<const Kind*>& kinds);
void add_option_tests(Suite& suite, const std::vector<const Kind*>& kinds);
/// The one test of options that interfaces without a Kind have too. `kind`: "launcher".
void add_option_table_test(Suite& suite, const std::string& kind, const std::string& id);
void add_router_tests(Suite& suite);
void add_tensor_source_tests(Suite& suite);
void add_import_tests(Suite& suite);
void add_export_tests(Suite& suite);
void add_format_error_tests(Suite& suite);
void add_unknown_semantics(Suite& suite, const std::string& interface, bool draft);
void add_error_tests(Suite& suite, const std::vector<const Kind*>& kinds);
void add_compatibility_tests(Suite& suite, const std::vector<const Kind*>& kinds);
void add_thread_tests(Suite& suite, const std::vector<const Kind*>& kinds);
void add_determinism_tests(Suite& suite, const std::vector<const Kind*>& kinds);
void add_unload_tests(Suite& suite);

}  // namespace prism::conformance
