// SPDX-License-Identifier: Apache-2.0
#include "core/plugin/elf.hpp"

#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <filesystem>
#include <fstream>
#include <set>
#include <string_view>

namespace prism::plugin {
namespace {

constexpr uint64_t kMaxDynamicEntries = 4096;
constexpr uint64_t kMaxNames = uint64_t{64} << 20;  // the string table of a very large library
constexpr size_t kMaxLibraries = 512;

/// Random access that fails instead of reading beyond the file.
class File {
 public:
  explicit File(const std::string& path) : stream_(path, std::ios::binary) {
    stream_.seekg(0, std::ios::end);
    const std::streamoff end = stream_ ? std::streamoff(stream_.tellg()) : 0;
    size_ = end > 0 ? static_cast<uint64_t>(end) : 0;
  }
  uint64_t size() const { return size_; }
  bool read(uint64_t offset, void* out, uint64_t bytes) {
    if (bytes > size_ || offset > size_ - bytes) {
      return false;
    }
    stream_.clear();
    stream_.seekg(static_cast<std::streamoff>(offset));
    return bool(stream_.read(static_cast<char*>(out), static_cast<std::streamsize>(bytes)));
  }

 private:
  std::ifstream stream_;
  uint64_t size_ = 0;
};

std::vector<std::string> split(std::string_view list) {
  std::vector<std::string> parts;
  while (!list.empty()) {
    const size_t colon = std::min(list.find(':'), list.size());
    if (colon > 0) {
      parts.emplace_back(list.substr(0, colon));
    }
    list.remove_prefix(std::min(colon + 1, list.size()));
  }
  return parts;
}

std::string replace_origin(std::string path, const std::string& origin) {
  for (const std::string_view token : {"${ORIGIN}", "$ORIGIN"}) {
    for (size_t at; (at = path.find(token)) != std::string::npos;) {
      path.replace(at, token.size(), origin);
    }
  }
  return path;
}

/// The file that the loader would take for `name`, as far as can be told from outside it.
std::string find_library(const std::string& name, const Dependencies& needer) {
  std::vector<std::string> folders;
  if (const char* extra = std::getenv("LD_LIBRARY_PATH")) {
    folders = split(extra);
  }
  folders.insert(folders.end(), needer.search_paths.begin(), needer.search_paths.end());
  for (const char* system : {"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64",
                             "/usr/lib64", "/lib", "/usr/lib", "/usr/local/lib"}) {
    folders.emplace_back(system);
  }
  for (const std::string& folder : folders) {
    std::error_code ignored;
    if (std::filesystem::exists(folder + "/" + name, ignored)) {
      return folder + "/" + name;
    }
  }
  return {};
}

}  // namespace

Result<Dependencies> read_dependencies(const std::string& path) {
  const Status broken =
      plugin_error("'" + path + "' is no 64-bit ELF library, or damaged", Code::InvalidArgument);
  File file(path);
  Elf64_Ehdr header;
  if (!file.read(0, &header, sizeof header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
      header.e_phentsize != sizeof(Elf64_Phdr)) {
    return broken;
  }
  std::vector<Elf64_Phdr> segments(header.e_phnum);
  if (!file.read(header.e_phoff, segments.data(), segments.size() * sizeof(Elf64_Phdr))) {
    return broken;
  }
  std::vector<Elf64_Dyn> entries;
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type == PT_DYNAMIC) {
      const uint64_t count = segment.p_filesz / sizeof(Elf64_Dyn);
      if (count > kMaxDynamicEntries) {
        return broken;
      }
      entries.resize(count);
      if (!file.read(segment.p_offset, entries.data(), count * sizeof(Elf64_Dyn))) {
        return broken;
      }
    }
  }
  uint64_t names_address = 0;
  uint64_t names_size = 0;
  for (const Elf64_Dyn& entry : entries) {
    if (entry.d_tag == DT_STRTAB) {
      names_address = entry.d_un.d_ptr;
    } else if (entry.d_tag == DT_STRSZ) {
      names_size = entry.d_un.d_val;
    }
  }
  std::string names;
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type == PT_LOAD && names_address >= segment.p_vaddr &&
        names_address - segment.p_vaddr < segment.p_filesz) {
      if (names_size > kMaxNames || names_size > file.size()) {
        return broken;
      }
      names.resize(names_size);
      if (!file.read(segment.p_offset + (names_address - segment.p_vaddr), names.data(),
                     names_size)) {
        return broken;
      }
      break;
    }
  }
  const auto name_at = [&](uint64_t offset) {
    const size_t end = offset < names.size() ? names.find('\0', offset) : std::string::npos;
    return end == std::string::npos ? std::string() : names.substr(offset, end - offset);
  };
  const std::string origin = std::filesystem::path(path).parent_path().string();
  Dependencies result;
  for (const Elf64_Dyn& entry : entries) {
    if (entry.d_tag == DT_NULL) {
      break;
    }
    if (entry.d_tag == DT_NEEDED) {
      result.needed.push_back(name_at(entry.d_un.d_val));
    } else if (entry.d_tag == DT_RUNPATH || entry.d_tag == DT_RPATH) {
      for (const std::string& part : split(name_at(entry.d_un.d_val))) {
        result.search_paths.push_back(replace_origin(part, origin));
      }
    }
  }
  return result;
}

std::string who_needs(const std::string& path, const std::string& name) {
  std::vector<std::string> open = {path};
  std::set<std::string> seen = {path};
  for (size_t i = 0; i < open.size() && i < kMaxLibraries; ++i) {
    const Result<Dependencies> dependencies = read_dependencies(open[i]);
    if (!dependencies.ok()) {
      continue;
    }
    for (const std::string& needed : dependencies->needed) {
      if (needed == name) {
        return open[i];
      }
      std::string found = find_library(needed, *dependencies);
      if (!found.empty() && seen.insert(found).second) {
        open.push_back(std::move(found));
      }
    }
  }
  return {};
}

}  // namespace prism::plugin
