// SPDX-License-Identifier: Apache-2.0
#include "core/plugin/elf.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string_view>

#include "core/base/file.hpp"

namespace prism::plugin {
namespace {

constexpr uint64_t kMaxDynamicEntries = 4096;
constexpr uint64_t kMaxNames = uint64_t{64} << 20;  // the string table of a very large library
constexpr size_t kMaxLibraries = 512;
constexpr uint64_t kMaxSymbols = uint64_t{1} << 22;
constexpr uint64_t kMaxVersions = 4096;
#if defined(__x86_64__)
constexpr unsigned kOurMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr unsigned kOurMachine = EM_AARCH64;
#endif
constexpr std::string_view kLinkerSymbols[] = {"_init", "_fini", "_edata", "_end", "__bss_start"};

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
    if (std::string path = join_path(folder, name); std::filesystem::exists(path, ignored)) {
      return path;
    }
  }
  return {};
}

Status no_library(const std::string& path) {
  return plugin_error("'" + path + "' is no 64-bit ELF library, or damaged", Code::InvalidArgument);
}

/// The parts of a 64-bit little-endian ELF file that the dynamic loader uses; every offset in it is
/// checked against the file.
class Image {
 public:
  explicit Image(const std::string& path) : file_(path) { valid_ = read_all(); }

  bool valid() const { return valid_; }
  const Elf64_Ehdr& header() const { return header_; }
  const Elf64_Phdr* segment(uint32_t type) const {
    const auto found = std::find_if(segments_.begin(), segments_.end(),
                                    [&](const Elf64_Phdr& s) { return s.p_type == type; });
    return found == segments_.end() ? nullptr : &*found;
  }
  bool has_segment(uint32_t type) const { return segment(type) != nullptr; }

  /// The name at an offset of the table of names; empty when there is none.
  std::string text(uint64_t offset) const {
    const size_t end = offset < names_.size() ? names_.find('\0', offset) : std::string::npos;
    return end == std::string::npos ? std::string() : names_.substr(offset, end - offset);
  }
  /// The texts of all entries with this tag.
  std::vector<std::string> texts(int64_t tag) const {
    std::vector<std::string> found;
    for (const Elf64_Dyn& entry : entries_) {
      if (entry.d_tag == tag) {
        found.push_back(text(entry.d_un.d_val));
      }
    }
    return found;
  }
  std::vector<std::string> search_paths() const {
    std::vector<std::string> folders;
    for (const int64_t tag : {DT_RPATH, DT_RUNPATH}) {
      for (const std::string& list : texts(tag)) {
        const std::vector<std::string> parts = split(list);
        folders.insert(folders.end(), parts.begin(), parts.end());
      }
    }
    return folders;
  }

  /// All dynamic symbols; none when their number cannot be told.
  std::vector<Elf64_Sym> symbols() {
    const uint64_t most = file_.size() / sizeof(Elf64_Sym);
    std::vector<Elf64_Sym> found(std::min(symbol_count(), most));
    if (!read_at(value(DT_SYMTAB), found.data(), found.size() * sizeof(Elf64_Sym))) {
      found.clear();
    }
    return found;
  }

  /// "GLIBC_2.34", of every library that it needs.
  std::vector<std::string> needed_versions() {
    std::vector<std::string> found;
    const uint64_t count = std::min<uint64_t>(value(DT_VERNEEDNUM), kMaxVersions);
    uint64_t address = value(DT_VERNEED);
    Elf64_Verneed library;
    for (uint64_t i = 0; i < count && read_at(address, &library, sizeof library); ++i) {
      uint64_t at = address + library.vn_aux;
      Elf64_Vernaux version;
      // The bound is one for all: counts of a hostile file multiply.
      for (unsigned k = 0; k < library.vn_cnt && found.size() < kMaxVersions &&
                           read_at(at, &version, sizeof version);
           ++k) {
        found.push_back(text(version.vna_name));
        at += version.vna_next;
      }
      address += library.vn_next;
    }
    return found;
  }

 private:
  bool read_all() {
    if (!file_.read(0, &header_, sizeof header_) ||
        std::memcmp(header_.e_ident, ELFMAG, SELFMAG) != 0 ||
        header_.e_ident[EI_CLASS] != ELFCLASS64 || header_.e_ident[EI_DATA] != ELFDATA2LSB ||
        header_.e_phentsize != sizeof(Elf64_Phdr)) {
      return false;
    }
    segments_.resize(header_.e_phnum);
    if (!file_.read(header_.e_phoff, segments_.data(), segments_.size() * sizeof(Elf64_Phdr))) {
      return false;
    }
    const Elf64_Phdr* dynamic = segment(PT_DYNAMIC);
    if (dynamic == nullptr) {
      return true;  // a program without libraries, or an object file
    }
    const uint64_t count = dynamic->p_filesz / sizeof(Elf64_Dyn);
    entries_.resize(std::min(count, kMaxDynamicEntries + 1));
    if (count > kMaxDynamicEntries ||
        !file_.read(dynamic->p_offset, entries_.data(), count * sizeof(Elf64_Dyn))) {
      return false;
    }
    const auto end = std::find_if(entries_.begin(), entries_.end(),
                                  [](const Elf64_Dyn& entry) { return entry.d_tag == DT_NULL; });
    entries_.erase(end, entries_.end());
    const uint64_t size = value(DT_STRSZ);
    if (size > kMaxNames || size > file_.size()) {
      return false;
    }
    names_.resize(size);
    return size == 0 || !in_file(value(DT_STRTAB)) ||
           read_at(value(DT_STRTAB), names_.data(), size);
  }

  /// Of the entry with this tag, 0 when there is none.
  uint64_t value(int64_t tag) const {
    for (const Elf64_Dyn& entry : entries_) {
      if (entry.d_tag == tag) {
        return entry.d_un.d_val;
      }
    }
    return 0;
  }

  /// The segment that is loaded to `address`.
  const Elf64_Phdr* in_file(uint64_t address) const {
    const auto found = std::find_if(segments_.begin(), segments_.end(), [&](const Elf64_Phdr& s) {
      return s.p_type == PT_LOAD && address >= s.p_vaddr && address - s.p_vaddr < s.p_filesz;
    });
    return found == segments_.end() ? nullptr : &*found;
  }
  bool read_at(uint64_t address, void* out, uint64_t bytes) {
    const Elf64_Phdr* loaded = in_file(address);
    return loaded != nullptr && loaded->p_offset <= file_.size() &&
           file_.read(loaded->p_offset + (address - loaded->p_vaddr), out, bytes);
  }

  /// From the hash table, which is all that a stripped library has to tell it.
  uint64_t symbol_count() {
    uint32_t sizes[2];  // buckets, chains: one chain entry per symbol
    if (value(DT_HASH) != 0 && read_at(value(DT_HASH), sizes, sizeof sizes)) {
      return std::min<uint64_t>(sizes[1], kMaxSymbols);
    }
    uint32_t head[4];  // buckets, first hashed symbol, words of the Bloom filter, its shift
    const uint64_t table = value(DT_GNU_HASH);
    if (table == 0 || !read_at(table, head, sizeof head) || head[0] > kMaxSymbols) {
      return 0;
    }
    std::vector<uint32_t> buckets(head[0]);
    const uint64_t first_bucket = table + sizeof head + uint64_t{head[2]} * sizeof(uint64_t);
    if (!read_at(first_bucket, buckets.data(), buckets.size() * sizeof(uint32_t))) {
      return 0;
    }
    const uint64_t chains = first_bucket + buckets.size() * sizeof(uint32_t);
    uint64_t last = buckets.empty() ? 0 : *std::max_element(buckets.begin(), buckets.end());
    if (last < head[1]) {
      return head[1];  // nothing is hashed: nothing is exported
    }
    uint32_t chain = 0;
    while (last < kMaxSymbols &&
           read_at(chains + (last - head[1]) * sizeof chain, &chain, sizeof chain)) {
      ++last;
      if ((chain & 1) != 0) {  // the end of the last bucket's chain
        return last;
      }
    }
    return 0;
  }

  File file_;
  bool valid_ = false;
  Elf64_Ehdr header_{};
  std::vector<Elf64_Phdr> segments_;
  std::vector<Elf64_Dyn> entries_;
  std::string names_;
};

/// The numbers of "GLIBC_2.34".
std::vector<unsigned long> numbers_of(const std::string& version) {
  std::vector<unsigned long> numbers;
  for (size_t at = version.rfind('_'); at < version.size();) {
    char* end = nullptr;
    numbers.push_back(std::strtoul(version.c_str() + at + 1, &end, 10));
    at = *end == '.' ? static_cast<size_t>(end - version.c_str()) : version.size();
  }
  return numbers;
}

/// The newest of each family: of GLIBC_2.2.5 and GLIBC_2.34 the second.
std::vector<std::string> newest_versions(const std::vector<std::string>& versions) {
  std::map<std::string, std::string> newest;
  for (const std::string& version : versions) {
    std::string& best = newest[version.substr(0, version.rfind('_'))];
    if (best.empty() || numbers_of(best) < numbers_of(version)) {
      best = version;
    }
  }
  std::vector<std::string> result;
  result.reserve(newest.size());
  for (const auto& [family, version] : newest) {
    result.push_back(version);
  }
  return result;
}

}  // namespace

Result<Dependencies> read_dependencies(const std::string& path) {
  Image image(path);
  if (!image.valid()) {
    return no_library(path);
  }
  const std::string origin = std::filesystem::path(path).parent_path().string();
  Dependencies result;
  result.needed = image.texts(DT_NEEDED);
  for (const std::string& folder : image.search_paths()) {
    result.search_paths.push_back(replace_origin(folder, origin));
  }
  return result;
}

Result<conformance::FileFacts> read_file_facts(const std::string& path) {
  Image image(path);
  if (!image.valid()) {
    return no_library(path);
  }
  conformance::FileFacts facts;
  facts.shared_library = image.header().e_type == ET_DYN && !image.has_segment(PT_INTERP);
  facts.this_machine = image.header().e_machine == kOurMachine;
  // Without the header the loader takes the stack for executable, too.
  const Elf64_Phdr* stack = image.segment(PT_GNU_STACK);
  facts.executable_stack = stack == nullptr || (stack->p_flags & PF_X) != 0;
  facts.needed = image.texts(DT_NEEDED);
  facts.search_paths = image.search_paths();
  for (const Elf64_Sym& symbol : image.symbols()) {
    const unsigned char binding = ELF64_ST_BIND(symbol.st_info);
    if (symbol.st_shndx == SHN_UNDEF || binding == STB_LOCAL) {
      continue;
    }
    std::string name = image.text(symbol.st_name);
    // What the linker adds to every library is nobody's export.
    if (name.empty() || symbol.st_shndx == SHN_ABS ||
        std::count(std::begin(kLinkerSymbols), std::end(kLinkerSymbols), name) != 0) {
      continue;
    }
    if (binding == STB_GNU_UNIQUE) {
      facts.unique_symbols.push_back(name);
    }
    facts.exports.push_back(std::move(name));
  }
  std::sort(facts.exports.begin(), facts.exports.end());
  facts.versions = newest_versions(image.needed_versions());
  return facts;
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
