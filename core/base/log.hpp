// SPDX-License-Identifier: Apache-2.0
/// The program's log: one file per run, and warnings on standard error. Any thread.
/// Backed by spdlog, which only log.cpp sees.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace prism::log {

enum class Level : int32_t { Trace = 0, Debug = 1, Info = 2, Warn = 3, Error = 4 };

/// Messages below `level` are dropped. Default: Info.
void set_level(Level level);
bool enabled(Level level);
/// From now on every kept message also goes to this file (appended). Returns false and changes
/// nothing when it cannot be opened; an empty path closes the file.
bool open_file(const std::string& path);

void write(Level level, std::string_view message);
inline void debug(std::string_view m) {
  write(Level::Debug, m);
}
inline void info(std::string_view m) {
  write(Level::Info, m);
}
inline void warn(std::string_view m) {
  write(Level::Warn, m);
}
inline void error(std::string_view m) {
  write(Level::Error, m);
}

}  // namespace prism::log
