// SPDX-License-Identifier: Apache-2.0
#include "core/base/folder.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <vector>

#include "core/base/descriptor.hpp"

namespace prism {
namespace {

namespace fs = std::filesystem;

/// All of the folder's files are on disk when this returns.
Status sync_folder(const std::string& path) {
  std::error_code error;
  std::vector<std::string> all{path};
  for (fs::directory_iterator entry(path, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    all.push_back(entry->path().string());
  }
  if (error) {
    return io_error("read", path, error.value());
  }
  for (const std::string& one : all) {
    const Descriptor fd(::open(one.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (fd.get() < 0 || ::fsync(fd.get()) != 0) {
      return io_error("write", one, errno);
    }
  }
  return {};
}

/// What is in `old` but not in `fresh`, or that is a folder; empty: nothing.
Result<std::string> lost_of(const std::string& old, const std::string& fresh) {
  std::error_code error;
  std::error_code ignored;
  for (fs::directory_iterator entry(old, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    const fs::path& there = entry->path();
    if (entry->is_directory(ignored) || !fs::exists(fs::path(fresh) / there.filename(), ignored)) {
      return there.filename().string();
    }
  }
  if (error) {
    return io_error("read", old, error.value());
  }
  return std::string();
}

/// Gives `fresh` the name `path`, at which there may be a folder.
Status move_folder(const std::string& fresh, const std::string& path) {
  struct stat there {};
  if (::stat(path.c_str(), &there) != 0) {
    return ::rename(fresh.c_str(), path.c_str()) == 0 ? Status() : io_error("write", path, errno);
  }
  PRISM_TRY_ASSIGN(const std::string lost, lost_of(path, fresh));
  if (!lost.empty()) {
    return run_error("cannot replace the folder '" + path + "': it has '" + lost +
                         "', which is not of what is written; name another one",
                     Code::InvalidArgument);
  }
  if (::renameat2(AT_FDCWD, fresh.c_str(), AT_FDCWD, path.c_str(), RENAME_EXCHANGE) != 0) {
    return io_error("replace", path, errno);
  }
  std::error_code ignored;
  fs::remove_all(fresh, ignored);  // what was at `path`
  return {};
}

}  // namespace

Status replace_folder(const std::string& path,
                      const std::function<Status(const std::string& unfinished)>& write) {
  const std::string name = path.substr(0, path.find_last_not_of('/') + 1);  // of "out/": "out"
  struct stat there {};
  if (::stat(name.c_str(), &there) == 0 && !S_ISDIR(there.st_mode)) {
    return run_error("cannot write the folder '" + path + "': it is there and no folder",
                     Code::InvalidArgument);
  }
  std::string part = name + ".part-XXXXXX";  // no folder of somebody else's
  if (::mkdtemp(part.data()) == nullptr) {
    return io_error("write", path, errno);
  }
  ::chmod(part.c_str(), 0755);
  Status status = write(part);
  if (status.ok()) {
    status = sync_folder(part);
  }
  if (status.ok()) {
    status = move_folder(part, name);
  }
  if (!status.ok()) {
    std::error_code ignored;
    fs::remove_all(part, ignored);
  }
  return status;
}

}  // namespace prism
