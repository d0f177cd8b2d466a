// SPDX-License-Identifier: Apache-2.0
#include "core/base/log.hpp"

#include <memory>
#include <mutex>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

namespace prism::log {
namespace {

spdlog::level::level_enum to_spdlog(Level level) {
  return static_cast<spdlog::level::level_enum>(level);
}

/// Standard error shows warnings and errors; the file shows all that the level lets through.
struct Log {
  Log() {
    console->set_level(spdlog::level::warn);
    console->set_pattern("prism: %l: %v");
  }
  std::mutex mutex;  // guards file
  std::shared_ptr<spdlog::sinks::stderr_sink_mt> console =
      std::make_shared<spdlog::sinks::stderr_sink_mt>();
  std::shared_ptr<spdlog::sinks::basic_file_sink_mt> file;
  spdlog::level::level_enum level = spdlog::level::info;
};

Log& instance() {
  static Log* log = new Log;  // never destroyed: plugins may log while the process ends
  return *log;
}

}  // namespace

void set_level(Level level) {
  Log& log = instance();
  const std::lock_guard lock(log.mutex);
  log.level = to_spdlog(level);
}

bool enabled(Level level) {
  Log& log = instance();
  const std::lock_guard lock(log.mutex);
  return to_spdlog(level) >= log.level;
}

bool open_file(const std::string& path) {
  Log& log = instance();
  const std::lock_guard lock(log.mutex);
  if (path.empty()) {
    log.file.reset();
    return true;
  }
  try {
    auto sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(path);
    sink->set_pattern("%Y-%m-%dT%H:%M:%S.%e %l %v");
    log.file = std::move(sink);
    return true;
  } catch (const spdlog::spdlog_ex&) {
    return false;
  }
}

void write(Level level, std::string_view message) {
  Log& log = instance();
  const std::lock_guard lock(log.mutex);
  if (to_spdlog(level) < log.level) {
    return;
  }
  const spdlog::details::log_msg record("prism", to_spdlog(level),
                                        spdlog::string_view_t(message.data(), message.size()));
  if (log.console->should_log(record.level)) {
    log.console->log(record);
  }
  if (!log.file) {
    return;
  }
  try {
    log.file->log(record);
    log.file->flush();
  } catch (const spdlog::spdlog_ex& error) {  // a full disk must not end the work that is logged
    log.file.reset();
    log.console->log(
        {"prism", spdlog::level::warn, std::string("the log ends here: ") + error.what()});
  }
}

}  // namespace prism::log
