// SPDX-License-Identifier: Apache-2.0
/// Calls of a format as the host makes them.
#pragma once

#include <string>
#include <vector>

#include "prism/abi/draft/format.h"
#include "sdk/conformance/format_timelines.hpp"
#include "sdk/conformance/test_folder.hpp"

namespace prism::conformance {

inline constexpr const char* kExportName = "export";

/// Makes the file or folder in which an export goes; returns its path.
std::string make_export_place(const prism_format_t& table, const TestFolder& folder,
                              const std::string& name = kExportName);

prism_status_t call_export(const prism_format_t& table, void* session, const Timeline& timeline,
                           const std::string& path, const prism_error_sink_t* err);

/// `files`: paths, of which the ranks are not said.
prism_status_t call_import(const prism_format_t& table, void* session,
                           const std::vector<std::string>& files, const prism_trace_sink_t* sink,
                           const prism_error_sink_t* err);

/// The files of an export that are to be imported: those that the format recognises, else all.
std::vector<std::string> exported_files(const prism_format_t& table, void* session,
                                        const TestFolder& folder);

/// What is no trace, in bytes that are the same each time.
std::string random_bytes(uint64_t seed, size_t size);

}  // namespace prism::conformance
