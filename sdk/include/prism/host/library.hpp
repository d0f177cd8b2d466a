// SPDX-License-Identifier: Apache-2.0
/// Binds a plugin inside the process of a rank. Nothing is searched: the coordinator has found the
/// plugin, checked it and says where it is and which bytes it has.
///
///   host::Library library({"constant", "/opt/.../libprism_constant.so", "8c3f..."});
///   const void* table = nullptr;
///   host::Outcome outcome = library.open();
///   if (outcome.ok()) { outcome = library.interface(PRISM_TENSOR_SOURCE_1, table); }
///
/// Errors say which plugin and why; nothing is thrown but std::bad_alloc. The library is never
/// unmapped. Needs dlopen; std and POSIX only.
#pragma once

#include <cstdint>
#include <cstdio>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>

#include "prism/abi/plugin.h"
#include "prism/host/bind.hpp"
#include "prism/host/call_notes.hpp"
#include "prism/host/outcome.hpp"
#include "prism/host/sinks.hpp"
#include "prism/host/text.hpp"

namespace prism::host {

/// 16 hexadecimal digits of the 64-bit FNV-1a hash of a file's bytes: tells a library that was
/// built anew since, no protection against somebody who wants a collision. Empty where the file
/// cannot be read.
inline std::string library_hash(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  uint64_t hash = 0xcbf29ce484222325U;
  char piece[65536];
  while (file.read(piece, sizeof piece), file.gcount() > 0) {
    for (const char c : std::string_view(piece, static_cast<size_t>(file.gcount()))) {
      hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    }
  }
  if (!file.eof()) {
    return {};
  }
  std::string text;
  for (int shift = 60; shift >= 0; shift -= 4) {
    text += "0123456789abcdef"[(hash >> shift) & 0xf];
  }
  return text;
}

/// What the coordinator says about a plugin.
struct LibraryPlace {
  std::string id;
  std::string path;  ///< absolute
  std::string hash;  ///< library_hash() of the file that was checked
};

/// A plugin in the process of a rank; its log lines from INFO on go to standard error. The
/// destructor calls deinit: what was made with it must be gone by then. Thread: [control].
class Library {
 public:
  explicit Library(LibraryPlace place)
      : place_(std::move(place)),
        name_("plugin '" + place_.id + "' (" + file_name(place_.path) + ")") {}
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library() {
    if (initialised_ && plugin_->deinit != nullptr) {
      const NotedCall call(name_, "deinit");
      plugin_->deinit();
    }
  }

  /// Loads, checks and initialises the plugin; once. Errors: it is another file than the one that
  /// was checked, cannot be loaded, is no plugin, or its init() failed.
  Outcome open() {
    if (!std::filesystem::path(place_.path).is_absolute()) {
      return unusable("'" + place_.path + "' is no absolute path");
    }
    if (library_hash(place_.path) != place_.hash) {
      return unusable("'" + place_.path +
                      "' is not the file that was checked when the run began; "
                      "was it built anew meanwhile? Run again");
    }
    void* handle = load();
    if (handle == nullptr) {
      const char* why = ::dlerror();
      return unusable(why == nullptr ? "dlopen failed" : why);
    }
    using Entry = const prism_plugin_t*();
    auto* entry = reinterpret_cast<Entry*>(::dlsym(handle, PRISM_PLUGIN_ENTRY));
    if (entry == nullptr || !defines(reinterpret_cast<const void*>(entry))) {
      return unusable("it does not define " PRISM_PLUGIN_ENTRY "; build it with prism_add_plugin");
    }
    plugin_ = [&] {
      const NotedCall call(name_, PRISM_PLUGIN_ENTRY);
      return entry();
    }();
    if (const std::string why = check_plugin(plugin_, false); !why.empty()) {
      return unusable(why);
    }
    if (const std::string id = clean_text(plugin_->id); id != place_.id) {
      return unusable("the library says that its id is '" + id + "'");
    }
    name_.insert(name_.size() - 1, " " + clean_text(plugin_->version));
    if (plugin_->init != nullptr) {
      const ErrorSink error;
      const NotedCall call(name_, "init");
      const prism_status_t status = plugin_->init(&host_, error.c());
      if (status != PRISM_STATUS_OK) {
        return {status, name_ + ": init(): " + error.message(status)};
      }
    }
    initialised_ = true;
    return {};
  }

  /// After open(): the checked table of an interface, static. Errors: the plugin lacks it, or its
  /// table cannot be used.
  Outcome interface(std::string_view id, const void*& table) const {
    table = plugin_->get_interface({id.data(), id.size()});
    const std::string why = check_interface(id, table);
    return why.empty() ? Outcome{} : unusable(why);
  }

  /// "plugin 'constant' (libprism_constant.so 0.1.0)", the begin of every message about it.
  const std::string& name() const { return name_; }

 private:
  static std::string file_name(const std::string& path) {
    return std::filesystem::path(path).filename().string();
  }

  /// Runs what the library does when it is loaded.
  void* load() const {
    const NotedCall call(name_, "dlopen");
    return ::dlopen(place_.path.c_str(), RTLD_NOW | RTLD_LOCAL);
  }

  Outcome unusable(const std::string& why) const {
    return {PRISM_STATUS_FAILED_PRECONDITION, name_ + " cannot be used inside this rank: " + why};
  }

  /// dlsym also finds the symbol of a dependency.
  bool defines(const void* symbol) const {
    Dl_info where{};
    std::error_code ignored;
    return ::dladdr(symbol, &where) != 0 && where.dli_fname != nullptr &&
           std::filesystem::equivalent(where.dli_fname, place_.path, ignored);
  }

  static uint8_t log_enabled(void* /*ctx*/, int32_t level) noexcept {
    return level >= PRISM_LOG_INFO ? 1 : 0;
  }
  static void log(void* ctx, int32_t level, prism_str_t message) noexcept {
    try {
      if (log_enabled(ctx, level) != 0) {
        const std::string line = static_cast<Library*>(ctx)->place_.id + ": " + clean_text(message);
        std::fprintf(stderr, "%s\n", line.c_str());
      }
    } catch (...) {  // out of memory: a lost line must not end the rank
    }
  }

  static constexpr std::string_view kVersion = "rank";  // of the program: unknown here

  const LibraryPlace place_;
  std::string name_;
  const prism_plugin_t* plugin_ = nullptr;
  bool initialised_ = false;
  const prism_host_t host_{sizeof(prism_host_t),
                           0,
                           PRISM_ABI_MAJOR,
                           PRISM_ABI_MINOR,
                           0,
                           this,
                           {kVersion.data(), kVersion.size()},
                           &log_enabled,
                           &log};
};

}  // namespace prism::host
