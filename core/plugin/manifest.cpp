// SPDX-License-Identifier: Apache-2.0
#include "core/plugin/manifest.hpp"

#include <algorithm>
#include <limits>
#include <toml++/toml.h>

#include "core/base/file.hpp"

namespace prism::plugin {
namespace {

constexpr int64_t kManifestRevision = 1;
constexpr size_t kMaxIdBytes = 128;
constexpr size_t kMaxTextBytes = 1024;
constexpr size_t kMaxListLength = 256;

bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::string quoted(std::string_view text) {
  std::string result(1, '\'');
  return result.append(text).append(1, '\'');
}

/// "path:line:column", or the path alone where there is no place in the file.
std::string place_of(const std::string& path, const toml::source_region& region) {
  std::string place = path;
  if (region.begin.line > 0) {
    place.append(1, ':').append(std::to_string(region.begin.line));
    place.append(1, ':').append(std::to_string(region.begin.column));
  }
  return place;
}

/// MAJOR.MINOR.PATCH, then perhaps "-pre" or "+build".
bool valid_version(std::string_view version) {
  size_t at = 0;
  for (int part = 0; part < 3; ++part) {
    if (part > 0 && (at >= version.size() || version[at++] != '.')) {
      return false;
    }
    const size_t begin = at;
    while (at < version.size() && is_digit(version[at])) {
      ++at;
    }
    if (at == begin) {
      return false;
    }
  }
  if (at == version.size()) {
    return true;
  }
  if ((version[at] != '-' && version[at] != '+') || at + 1 == version.size()) {
    return false;
  }
  return std::all_of(version.begin() + static_cast<std::ptrdiff_t>(at), version.end(), [](char c) {
    return is_lower(c) || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '-' || c == '.' || c == '+';
  });
}

bool plain_file_name(std::string_view name) {
  return !name.empty() && name.size() <= 255 && name != "." && name != ".." &&
         name.find('/') == std::string_view::npos && name.find('\0') == std::string_view::npos;
}

/// Reads one manifest and keeps the first thing that is wrong with it.
class Reader {
 public:
  Reader(const toml::table& root, const std::string& path) : root_(root), path_(path) {}

  Result<Manifest> read() {
    Manifest m;
    const int64_t revision = integer(root_, "manifest", std::numeric_limits<int64_t>::max());
    if (failure_.ok() && revision != kManifestRevision) {
      fail(root_.get("manifest"), "manifest revision " + std::to_string(revision) +
                                      "; this program reads " + std::to_string(kManifestRevision));
    }
    if (const toml::table* plugin = table("plugin")) {
      m.id = text(*plugin, "id");
      check(valid_id(m.id), *plugin, "id", "is no plugin id: use a-z, 0-9 and _, or reverse DNS");
      m.version = text(*plugin, "version");
      check(valid_version(m.version), *plugin, "version", "is no semantic version, like \"0.1.0\"");
      m.library = text(*plugin, "library");
      check(plain_file_name(m.library), *plugin, "library", "must be a file name without folder");
      m.summary = optional_text(*plugin, "summary");
      m.license = optional_text(*plugin, "license");
    }
    if (const toml::table* abi = table("abi")) {
      m.abi_major = static_cast<uint32_t>(integer(*abi, "major", 65535));
      if (abi->contains("min_host_minor")) {
        m.min_host_minor = static_cast<uint32_t>(integer(*abi, "min_host_minor", 65535));
      }
      m.drafts = texts(*abi, "drafts");
    }
    if (const toml::table* provides = table("provides")) {
      m.interfaces = texts(*provides, "interfaces");
      check(!m.interfaces.empty(), *provides, "interfaces", "must name at least one interface");
    }
    if (root_.contains("requires")) {
      if (const toml::table* needs = table("requires")) {
        for (const auto& [key, node] : *needs) {
          m.requirements[std::string(key.str())] = optional_text(*needs, key.str());
        }
      }
    }
    if (root_.contains("build")) {
      if (const toml::table* build = table("build")) {
        m.compiler = optional_text(*build, "compiler");
        m.sanitizers = texts(*build, "sanitizers");
      }
    }
    companions(m);
    if (!failure_.ok()) {
      return failure_;
    }
    return m;
  }

 private:
  void fail(const toml::node* where, const std::string& message) {
    if (!failure_.ok()) {
      return;
    }
    const std::string place = where == nullptr ? path_ : place_of(path_, where->source());
    failure_ = plugin_error(place + ": " + message, Code::InvalidArgument);
  }

  void check(bool good, const toml::table& in, std::string_view key, const std::string& problem) {
    if (failure_.ok() && !good) {
      fail(in.get(key), quoted(key) + " " + problem);
    }
  }

  const toml::table* table(std::string_view name) {
    const toml::node* node = root_.get(name);
    if (node == nullptr) {
      fail(nullptr, "the table [" + std::string(name) + "] is missing");
      return nullptr;
    }
    if (!node->is_table()) {
      fail(node, quoted(name) + " must be a table");
      return nullptr;
    }
    return node->as_table();
  }

  int64_t integer(const toml::table& in, std::string_view key, int64_t max) {
    const toml::node* node = in.get(key);
    const toml::value<int64_t>* value = node == nullptr ? nullptr : node->as_integer();
    if (value == nullptr) {
      fail(node == nullptr ? &in : node, "needs " + quoted(key) + ", a whole number");
      return 0;
    }
    if (value->get() < 0 || value->get() > max) {
      fail(node, quoted(key) + " is " + std::to_string(value->get()) + "; it must be 0 to " +
                     std::to_string(max));
      return 0;
    }
    return value->get();
  }

  std::string text_of(const toml::node* node, const std::string& what) {
    const toml::value<std::string>* value = node == nullptr ? nullptr : node->as_string();
    if (value == nullptr) {
      fail(node, what + " must be text");
      return {};
    }
    if (value->get().size() > kMaxTextBytes) {
      fail(node, what + " is longer than " + std::to_string(kMaxTextBytes) + " bytes");
      return {};
    }
    return value->get();
  }

  std::string text(const toml::table& in, std::string_view key) {
    if (!in.contains(key)) {
      fail(&in, "needs " + quoted(key) + ", a text");
      return {};
    }
    return text_of(in.get(key), quoted(key));
  }

  std::string optional_text(const toml::table& in, std::string_view key) {
    return in.contains(key) ? text(in, key) : std::string();
  }

  std::vector<std::string> texts(const toml::table& in, std::string_view key) {
    std::vector<std::string> result;
    const toml::node* node = in.get(key);
    if (node == nullptr) {
      return result;
    }
    const toml::array* array = node->as_array();
    if (array == nullptr || array->size() > kMaxListLength) {
      fail(node,
           quoted(key) + " must be a list of at most " + std::to_string(kMaxListLength) + " texts");
      return result;
    }
    for (const toml::node& item : *array) {
      result.push_back(text_of(&item, "an entry of " + quoted(key)));
    }
    return result;
  }

  void companions(Manifest& m) {
    const toml::node* node = root_.get("companion");
    if (node == nullptr) {
      return;
    }
    const toml::array* array = node->as_array();
    if (array == nullptr || array->size() > kMaxListLength) {
      fail(node, "'companion' must be a list of tables, [[companion]]");
      return;
    }
    for (const toml::node& item : *array) {
      const toml::table* entry = item.as_table();
      if (entry == nullptr) {
        fail(&item, "'companion' must be a list of tables, [[companion]]");
        return;
      }
      Companion companion;
      companion.file = text(*entry, "file");
      check(plain_file_name(companion.file), *entry, "file", "must be a file name without folder");
      companion.exports = texts(*entry, "exports");
      m.companions.push_back(std::move(companion));
    }
  }

  const toml::table& root_;
  const std::string& path_;
  Status failure_;
};

}  // namespace

bool valid_id(std::string_view id) {
  const bool reverse_dns = id.find('.') != std::string_view::npos;
  if (id.size() < 2 || id.size() > (reverse_dns ? kMaxIdBytes : 32) || !is_lower(id[0])) {
    return false;
  }
  for (size_t i = 0; i < id.size(); ++i) {
    const bool dot = id[i] == '.' && i + 1 < id.size() && id[i - 1] != '.';
    if (!is_lower(id[i]) && !is_digit(id[i]) && id[i] != '_' && !dot) {
      return false;
    }
  }
  return true;
}

Result<Manifest> parse_manifest(std::string_view text, const std::string& path) {
  if (text.size() > kMaxManifestBytes) {
    return plugin_error(path + ": longer than " + std::to_string(kMaxManifestBytes) +
                            " bytes, so it is no plugin manifest",
                        Code::InvalidArgument);
  }
  const toml::parse_result parsed = toml::parse(text, path);
  if (!parsed) {
    const toml::parse_error& error = parsed.error();
    return plugin_error(place_of(path, error.source()) + ": " + std::string(error.description()),
                        Code::InvalidArgument);
  }
  return Reader(parsed.table(), path).read();
}

Result<Manifest> read_manifest(const std::string& folder) {
  const std::string path = folder + "/plugin.toml";
  Result<std::string> text = read_file(path, kMaxManifestBytes);
  if (!text.ok()) {
    return plugin_error(std::string(text.status().message()), text.status().code());
  }
  return parse_manifest(*text, path);
}

}  // namespace prism::plugin
