// SPDX-License-Identifier: Apache-2.0
/// Binds a plugin inside the process of a rank. Nothing is searched: the coordinator has found the
/// plugin, checked it and says where it is and which bytes it has.
///
///   host::Library library({"constant", "/opt/.../libprism_constant.so", "8c3f..."});
///   const void* table = library.interface(PRISM_TENSOR_SOURCE_1);
///
/// The library is never unmapped. Needs dlopen: std and POSIX only.
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
#include "prism/host/failure.hpp"
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
  if (!file.eof() || file.bad()) {
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

/// A plugin that is loaded, checked and initialised; its log lines from INFO on go to standard
/// error. The destructor calls deinit: what was made with it must be gone by then.
/// Thread: [control].
class Library {
 public:
  /// Throws Failure: the file is another one than the coordinator checked, cannot be loaded, is no
  /// plugin, or init() failed.
  explicit Library(LibraryPlace place) : place_(std::move(place)) {
    const std::filesystem::path path(place_.path);
    name_ = "plugin '" + place_.id + "' (" + path.filename().string() + ")";
    if (!path.is_absolute()) {
      fail(PRISM_STATUS_INVALID_ARGUMENT, "'" + place_.path + "' is no absolute path");
    }
    if (library_hash(place_.path) != place_.hash) {
      fail(PRISM_STATUS_FAILED_PRECONDITION,
           "'" + place_.path +
               "' is not the file that was checked when the run began; was it "
               "built anew meanwhile? Run again");
    }
    plugin_ = entry_of(path)();
    if (const std::string why = check_plugin(plugin_, false); !why.empty()) {
      fail(PRISM_STATUS_FAILED_PRECONDITION, why);
    }
    if (const std::string id = clean_text(plugin_->id); id != place_.id) {
      fail(PRISM_STATUS_FAILED_PRECONDITION, "the library says that its id is '" + id + "'");
    }
    name_.insert(name_.size() - 1, " " + clean_text(plugin_->version));
    if (plugin_->init != nullptr) {
      const ErrorSink error;
      check_call(plugin_->init(&host_, error.c()), name_, "init", error);
    }
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library() {
    if (plugin_->deinit != nullptr) {
      plugin_->deinit();
    }
  }

  /// "plugin 'constant' (libprism_constant.so 0.1.0)", the begin of every message about it.
  const std::string& name() const { return name_; }

  /// Throws Failure where the plugin lacks this interface or its table cannot be used.
  const void* interface(std::string_view id) const {
    const void* table = plugin_->get_interface({id.data(), id.size()});
    if (const std::string why = check_interface(id, table); !why.empty()) {
      fail(PRISM_STATUS_FAILED_PRECONDITION, why);
    }
    return table;
  }

 private:
  using Entry = const prism_plugin_t*();

  [[noreturn]] void fail(prism_status_t code, const std::string& why) const {
    throw Failure(code, name_ + " cannot be used inside this rank: " + why);
  }

  Entry* entry_of(const std::filesystem::path& path) const {
    void* handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      const char* why = ::dlerror();
      fail(PRISM_STATUS_FAILED_PRECONDITION, why == nullptr ? "dlopen failed" : why);
    }
    void* symbol = ::dlsym(handle, PRISM_PLUGIN_ENTRY);
    Dl_info where{};
    std::error_code ignored;
    // dlsym also finds the symbol of a dependency.
    if (symbol == nullptr || ::dladdr(symbol, &where) == 0 || where.dli_fname == nullptr ||
        !std::filesystem::equivalent(where.dli_fname, path, ignored)) {
      fail(PRISM_STATUS_FAILED_PRECONDITION,
           "it does not define " PRISM_PLUGIN_ENTRY "; build it with prism_add_plugin");
    }
    return reinterpret_cast<Entry*>(symbol);
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

  static constexpr std::string_view kVersion = "rank";

  const LibraryPlace place_;
  std::string name_;
  const prism_plugin_t* plugin_ = nullptr;
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
