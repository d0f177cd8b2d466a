// SPDX-License-Identifier: Apache-2.0
#include "core/plugin/library.hpp"

#include <boost/dll/shared_library.hpp>
#include <cstdlib>
#include <cxxabi.h>
#include <dlfcn.h>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "core/plugin/elf.hpp"

namespace prism::plugin {
namespace {

std::string file_name(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

std::string demangle(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), std::free);
  return text ? std::string(text.get()) : symbol;
}

/// The dynamic loader's own words, which Boost.DLL quotes.
std::string loader_words(const std::string& what) {
  const std::string_view quote = "(dlerror system message: ";
  const size_t begin = what.find(quote);
  const size_t end = what.rfind(')');
  if (begin == std::string::npos || end == std::string::npos || end < begin + quote.size()) {
    return what;
  }
  return what.substr(begin + quote.size(), end - begin - quote.size());
}

/// Turns the loader's words into what is missing, who needs it and what to do.
std::string explain(const std::string& path, const std::string& words) {
  const std::string library = file_name(path);
  const std::string_view undefined = ": undefined symbol: ";
  if (const size_t at = words.find(undefined); at != std::string::npos) {
    const size_t begin = at + undefined.size();
    const std::string symbol = words.substr(begin, words.find_first_of(",\n) ", begin) - begin);
    const std::string needer = words.substr(0, at);
    return file_name(needer) + " needs the symbol '" + demangle(symbol) +
           "', which neither it nor any library that it is linked to defines; link the library "
           "that has it";
  }
  const std::string_view lost = ": cannot open shared object file";
  if (const size_t at = words.find(lost); at != std::string::npos) {
    const std::string name = words.substr(0, at);
    if (name != path) {
      const std::string needer = who_needs(path, name);
      return (needer.empty() ? library + " or a library below it" : file_name(needer)) +
             " needs the library " + name +
             ", which was not found; install it where the system's loader looks, or beside the "
             "plugin";
    }
  }
  if (words.find("invalid ELF header") != std::string::npos ||
      words.find("file too short") != std::string::npos ||
      words.find("wrong ELF class") != std::string::npos) {
    return library + " is no shared library of this machine (" + words + ")";
  }
  return words;
}

/// Handles that stay open for good (Boost.DLL would close them, and has no flag against it).
boost::dll::shared_library& keep(boost::dll::shared_library library) {
  static std::mutex mutex;
  static auto* libraries = new std::vector<std::unique_ptr<boost::dll::shared_library>>;
  const std::lock_guard lock(mutex);
  libraries->push_back(std::make_unique<boost::dll::shared_library>(std::move(library)));
  return *libraries->back();
}

bool same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  return std::filesystem::equivalent(a, b, error) && !error;
}

}  // namespace

Result<const prism_plugin_t*> open_plugin_library(const std::string& path) {
  try {
    if (!std::filesystem::path(path).is_absolute()) {
      return plugin_error("'" + path + "' is no absolute path", Code::InvalidArgument);
    }
    namespace mode = boost::dll::load_mode;
    boost::dll::shared_library& library =
        keep(boost::dll::shared_library(path, mode::rtld_now | mode::rtld_local));
    const std::string name = file_name(path);
    if (!library.has(PRISM_PLUGIN_ENTRY)) {
      return plugin_error(name + " does not export " PRISM_PLUGIN_ENTRY
                                 ", so it is no plugin for plugin ABI 1; build it with "
                                 "prism_add_plugin");
    }
    using Entry = const prism_plugin_t*();
    Entry& entry = library.get<Entry>(PRISM_PLUGIN_ENTRY);
    // dlsym also finds the symbol of a dependency.
    Dl_info where{};
    if (dladdr(reinterpret_cast<const void*>(&entry), &where) == 0 || where.dli_fname == nullptr ||
        !same_file(where.dli_fname, path)) {
      return plugin_error(
          "the entry " PRISM_PLUGIN_ENTRY " comes from " +
          file_name(where.dli_fname == nullptr ? "an unknown file" : where.dli_fname) +
          ", not from " + name + "; a plugin must define its own");
    }
    return entry();
  } catch (const std::exception& error) {
    return plugin_error(explain(path, loader_words(error.what())));
  }
}

}  // namespace prism::plugin
