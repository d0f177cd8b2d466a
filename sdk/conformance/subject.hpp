// SPDX-License-Identifier: Apache-2.0
/// The plugin that is checked, as the caller of the library knows it without loading it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "prism/abi/option.h"

namespace prism::conformance {

/// What an ELF file says about itself.
struct FileFacts {
  bool shared_library = false;  ///< not a program, nor an object file
  bool this_machine = false;    ///< its code is for the processor that this program runs on
  bool executable_stack = false;
  std::vector<std::string> exports;         ///< symbols that it defines for others, sorted
  std::vector<std::string> unique_symbols;  ///< GNU_UNIQUE: they keep a library from unloading
  std::vector<std::string> needed;          ///< DT_NEEDED
  std::vector<std::string> search_paths;    ///< DT_RUNPATH and DT_RPATH, as written
  std::vector<std::string> versions;        ///< the newest needed of each family, "GLIBC_2.34"
};

/// Facts, or why there are none.
struct FileReading {
  FileFacts facts;
  std::string problem;  ///< empty: the facts are there
};

/// A file beside the plugin that another program loads or runs.
struct Companion {
  std::string file;  ///< absolute
  std::vector<std::string> exports;
};

/// Values for an option table, or why there are none.
struct OptionReading {
  std::vector<prism_option_value_t> values;  ///< borrow text that lives until the next reading
  std::string problem;                       ///< empty: the values are there
  bool of_user = false;  ///< the user has to give or change a value; else the table is wrong
};

struct Subject {
  std::string library;  ///< absolute
  std::string id;       ///< from here on: by its manifest
  std::string version;
  std::vector<std::string> interfaces;
  std::vector<std::string> drafts;
  std::vector<Companion> companions;
  std::vector<std::string> samples;  ///< absolute: files of one trace, that the user gave

  /// Reads an ELF file without loading it.
  std::function<FileReading(const std::string& path)> read_file;
  /// Those that the user gave for the check, else the defaults.
  std::function<OptionReading(const prism_option_table_t& table)> read_options;
  /// The command that runs supervise() (child.hpp) for this subject; what to run is appended.
  std::vector<std::string> child_command;
};

}  // namespace prism::conformance
