// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace prism::child {

/// A file in memory, gone with the last process that has it. Here it is closed on exec.
class MemoryFile {
 public:
  explicit MemoryFile(const char* name) : fd_(::memfd_create(name, MFD_CLOEXEC)) {}
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() {
    if (fd_ >= 0) {
      ::close(fd_);
    }
  }
  /// Negative where there was no memory.
  int fd() const { return fd_; }

 private:
  int fd_;
};

/// A T of zeros at the begin of a file that other processes share. Empty where there is no memory.
template <typename T>
class Shared {
 public:
  /// `fd`: large enough; it may be closed afterwards.
  explicit Shared(int fd) {
    struct stat info {};
    if (::fstat(fd, &info) == 0 && info.st_size >= static_cast<off_t>(sizeof(T))) {
      void* memory = ::mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
      value_ = memory == MAP_FAILED ? nullptr : static_cast<T*>(memory);
    }
  }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  ~Shared() {
    if (value_ != nullptr) {
      ::munmap(value_, sizeof(T));
    }
  }
  T* get() const { return value_; }
  T* operator->() const { return value_; }
  explicit operator bool() const { return value_ != nullptr; }

 private:
  T* value_ = nullptr;
};

}  // namespace prism::child
