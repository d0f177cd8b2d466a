// SPDX-License-Identifier: Apache-2.0
#include "core/cli/run_dir.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/file.hpp"
#include "core/base/log.hpp"

namespace prism::cli {
namespace {

/// What lies where the run writes is a file of an earlier run, or nothing.
Status check_is_file(const std::string& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0 || S_ISREG(info.st_mode)) {
    return {};
  }
  return run_error("'" + path +
                       "' is no regular file: remove it, or give the run another "
                       "[experiment] run_dir",
                   Code::InvalidArgument);
}

}  // namespace

Result<RunDir> RunDir::open(const std::string& path) {
  PRISM_TRY(make_folders(path).context("opening the run directory ([experiment] run_dir)"));
  const std::string lock_path = path + "/lock";
  for (const std::string& file : {lock_path, path + "/prism.log"}) {
    PRISM_TRY(check_is_file(file));
  }
  const int fd = ::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
  if (fd < 0) {
    return run_error("cannot write '" + lock_path +
                         "' in the run directory ([experiment] run_dir): " + std::strerror(errno),
                     Code::PermissionDenied);
  }
  RunDir run_dir(path, fd);
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    char owner[32] = {};
    const ssize_t n = ::pread(fd, owner, sizeof owner - 1, 0);
    return run_error("the run directory '" + path + "' is in use by process " +
                         std::string(n > 0 ? owner : "?") +
                         "; wait for it, or give this run another [experiment] run_dir",
                     Code::Unavailable);
  }
  const std::string own = std::to_string(::getpid());
  if (::ftruncate(fd, 0) != 0 ||
      ::pwrite(fd, own.data(), own.size(), 0) != static_cast<ssize_t>(own.size())) {
    return run_error("cannot write '" + lock_path + "': " + std::strerror(errno),
                     Code::ResourceExhausted);
  }
  if (!log::open_file(run_dir.file("prism.log"))) {
    return run_error("cannot write '" + run_dir.file("prism.log") + "'", Code::PermissionDenied);
  }
  return run_dir;
}

RunDir::~RunDir() {
  if (lock_ >= 0) {
    log::open_file("");
    ::close(lock_);
  }
}

}  // namespace prism::cli
