// SPDX-License-Identifier: Apache-2.0
/// plugin.toml: what a plugin says about itself, readable without loading it. Written by
/// prism_add_plugin; read as untrusted input. Any thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.hpp"

namespace prism::plugin {

/// Nobody's manifest is longer; it bounds memory and the depth of what the parser builds.
constexpr uint64_t kMaxManifestBytes = 16 * 1024;

/// A file beside the plugin's library that another program loads or runs.
struct Companion {
  std::string file;  ///< plain file name
  std::vector<std::string> exports;
};

struct Manifest {
  std::string id;
  std::string version;  ///< semantic version
  std::string library;  ///< plain file name
  std::string summary;
  std::string license;
  uint32_t abi_major = 0;
  uint32_t min_host_minor = 0;
  std::vector<std::string> drafts;
  std::vector<std::string> interfaces;
  std::vector<Companion> companions;
  std::map<std::string, std::string> requirements;  ///< informative: "torch" -> "==2.11.*"
  std::string compiler;
  std::vector<std::string> sanitizers;

  bool offers(std::string_view interface) const;
};

/// Whether `id` can name a plugin: ^[a-z][a-z0-9_]{1,31}$, or reverse DNS of at most 128 bytes.
bool valid_id(std::string_view id);

/// `path` is only for messages, "path:line:column: ..." (Domain::Plugin). Keys that this program
/// does not know are ignored: a newer SDK may have written them.
Result<Manifest> parse_manifest(std::string_view text, const std::string& path);

/// Reads `folder`/plugin.toml.
Result<Manifest> read_manifest(const std::string& folder);

}  // namespace prism::plugin
