// SPDX-License-Identifier: Apache-2.0
/// What collect() looks at, section by section. Each appends its facts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/cli/doctor/doctor.hpp"

namespace prism::cli {

using Facts = std::vector<Fact>;

void look_at_cpu(Facts& facts);
void look_at_memory(Facts& facts);
void look_at_limits(Facts& facts);
void look_at_system(Facts& facts);
void look_at_namespaces(const DoctorOptions& options, Facts& facts);
/// The plugins, and the agents (companions of `torch`) among them.
void look_at_plugins(const DoctorOptions& options, Facts& facts);
/// Python, torch, and the agent for that torch. Returns the path of the NCCL library that was
/// installed beside torch; empty: none.
std::string look_at_python(const DoctorOptions& options, Facts& facts);
void look_at_gpu(const DoctorOptions& options, Facts& facts);
/// `beside_torch`: what look_at_python has returned.
void look_at_nccl(const DoctorOptions& options, const std::string& beside_torch, Facts& facts);

/// "512 B", "7.8 GiB".
std::string in_bytes(uint64_t bytes);
/// All of a small file, as those of /proc; empty when it cannot be read.
std::string content(const std::string& path);
/// The folder of plugins that belongs to the program.
std::string plugin_folder(const DoctorOptions& options);
/// Last part of a line "name: value" or "name=value" of `text`, without surrounding spaces; empty
/// when there is no such line.
std::string line_value(const std::string& text, const std::string& name, char separator);

}  // namespace prism::cli
