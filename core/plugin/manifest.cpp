// SPDX-License-Identifier: Apache-2.0
#include "core/plugin/manifest.hpp"

#include <algorithm>
#include <limits>
#include <memory>

#include "core/base/file.hpp"
#include "core/config/toml_reader.hpp"

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
std::string place_of(const std::string& path, const config::Position& at) {
  std::string place = path;
  if (at.line > 0) {
    place.append(1, ':').append(std::to_string(at.line));
    place.append(1, ':').append(std::to_string(at.column));
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
  Reader(const config::Value& root, const std::string& path) : root_(root), path_(path) {}

  Result<Manifest> read() {
    Manifest m;
    const int64_t revision = integer(root_, "manifest", std::numeric_limits<int64_t>::max());
    if (failure_.ok() && revision != kManifestRevision) {
      fail(find(root_, "manifest"), "manifest revision " + std::to_string(revision) +
                                        "; this program reads " +
                                        std::to_string(kManifestRevision));
    }
    if (const config::Value* plugin = table("plugin")) {
      m.id = text(*plugin, "id");
      check(valid_id(m.id), *plugin, "id", "is no plugin id: use a-z, 0-9 and _, or reverse DNS");
      m.version = text(*plugin, "version");
      check(valid_version(m.version), *plugin, "version", "is no semantic version, like \"0.1.0\"");
      m.library = text(*plugin, "library");
      check(plain_file_name(m.library), *plugin, "library", "must be a file name without folder");
      m.summary = optional_text(*plugin, "summary");
      m.license = optional_text(*plugin, "license");
    }
    if (const config::Value* abi = table("abi")) {
      m.abi_major = static_cast<uint32_t>(integer(*abi, "major", 65535));
      if (find(*abi, "min_host_minor") != nullptr) {
        m.min_host_minor = static_cast<uint32_t>(integer(*abi, "min_host_minor", 65535));
      }
      m.drafts = texts(*abi, "drafts");
    }
    if (const config::Value* provides = table("provides")) {
      m.interfaces = texts(*provides, "interfaces");
      check(!m.interfaces.empty(), *provides, "interfaces", "must name at least one interface");
    }
    if (find(root_, "requires") != nullptr) {
      if (const config::Value* needs = table("requires")) {
        for (const config::Member& member : needs->table()->members) {
          m.requirements[member.key] = optional_text(*needs, member.key);
        }
      }
    }
    if (find(root_, "build") != nullptr) {
      if (const config::Value* build = table("build")) {
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
  static const config::Value* find(const config::Value& in, std::string_view key) {
    return in.table()->find(key);
  }

  void fail(const config::Value* where, const std::string& message) {
    if (!failure_.ok()) {
      return;
    }
    const std::string place = where == nullptr ? path_ : place_of(path_, where->span.begin);
    failure_ = plugin_error(place + ": " + message, Code::InvalidArgument);
  }

  void check(bool good, const config::Value& in, std::string_view key, const std::string& problem) {
    if (failure_.ok() && !good) {
      fail(find(in, key), quoted(key) + " " + problem);
    }
  }

  const config::Value* table(std::string_view name) {
    const config::Value* node = find(root_, name);
    if (node == nullptr) {
      fail(nullptr, "the table [" + std::string(name) + "] is missing");
      return nullptr;
    }
    if (node->table() == nullptr) {
      fail(node, quoted(name) + " must be a table");
      return nullptr;
    }
    return node;
  }

  int64_t integer(const config::Value& in, std::string_view key, int64_t max) {
    const config::Value* node = find(in, key);
    const int64_t* value = node == nullptr ? nullptr : node->integer();
    if (value == nullptr) {
      fail(node == nullptr ? &in : node, "needs " + quoted(key) + ", a whole number");
      return 0;
    }
    if (*value < 0 || *value > max) {
      fail(node, quoted(key) + " is " + std::to_string(*value) + "; it must be 0 to " +
                     std::to_string(max));
      return 0;
    }
    return *value;
  }

  std::string text_of(const config::Value* node, const std::string& what) {
    const std::string* value = node == nullptr ? nullptr : node->string();
    if (value == nullptr) {
      fail(node, what + " must be text");
      return {};
    }
    if (value->size() > kMaxTextBytes) {
      fail(node, what + " is longer than " + std::to_string(kMaxTextBytes) + " bytes");
      return {};
    }
    const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
    if (std::any_of(value->begin(), value->end(), control)) {
      fail(node, what + " has a control character in it");  // which would reach the terminal
      return {};
    }
    return *value;
  }

  std::string text(const config::Value& in, std::string_view key) {
    if (find(in, key) == nullptr) {
      fail(&in, "needs " + quoted(key) + ", a text");
      return {};
    }
    return text_of(find(in, key), quoted(key));
  }

  std::string optional_text(const config::Value& in, std::string_view key) {
    return find(in, key) != nullptr ? text(in, key) : std::string();
  }

  std::vector<std::string> texts(const config::Value& in, std::string_view key) {
    std::vector<std::string> result;
    const config::Value* node = find(in, key);
    if (node == nullptr) {
      return result;
    }
    const config::List* array = node->list();
    if (array == nullptr || array->size() > kMaxListLength) {
      fail(node,
           quoted(key) + " must be a list of at most " + std::to_string(kMaxListLength) + " texts");
      return result;
    }
    for (const config::Value& item : *array) {
      result.push_back(text_of(&item, "an entry of " + quoted(key)));
    }
    return result;
  }

  void companions(Manifest& m) {
    const config::Value* node = find(root_, "companion");
    if (node == nullptr) {
      return;
    }
    const config::List* array = node->list();
    if (array == nullptr || array->size() > kMaxListLength) {
      fail(node, "'companion' must be a list of tables, [[companion]]");
      return;
    }
    for (const config::Value& entry : *array) {
      if (entry.table() == nullptr) {
        fail(&entry, "'companion' must be a list of tables, [[companion]]");
        return;
      }
      Companion companion;
      companion.file = text(entry, "file");
      check(plain_file_name(companion.file), entry, "file", "must be a file name without folder");
      companion.exports = texts(entry, "exports");
      m.companions.push_back(std::move(companion));
    }
  }

  const config::Value& root_;
  const std::string& path_;
  Status failure_;
};

}  // namespace

bool Manifest::offers(std::string_view interface) const {
  return std::find(interfaces.begin(), interfaces.end(), interface) != interfaces.end();
}

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
  const auto parsed =
      config::parse_toml(std::make_shared<const config::Source>(path, std::string(text)));
  if (const auto* diagnostics = std::get_if<config::Diagnostics>(&parsed)) {
    const config::Diagnostic& error = diagnostics->shown().front();
    return plugin_error(place_of(path, error.span.begin) + ": " + error.message,
                        Code::InvalidArgument);
  }
  return Reader(std::get<config::Value>(parsed), path).read();
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
