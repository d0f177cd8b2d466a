// SPDX-License-Identifier: Apache-2.0
#include "plugins/launchers/local/launch_request.hpp"

#include <cstring>
#include <type_traits>

namespace prism::local {
namespace {

// Header, cores, descriptor targets, then the strings, each ended by NUL: cwd, argv, env.
struct Header {
  uint32_t argc;
  uint32_t envc;
  uint32_t core_count;
  uint32_t fd_count;
};

template <typename T>
void append_raw(std::string& out, const T* values, size_t count) {
  static_assert(std::is_trivially_copyable_v<T>);
  if (count > 0) {
    const size_t at = out.size();
    out.resize(at + count * sizeof(T));
    std::memcpy(out.data() + at, values, count * sizeof(T));
  }
}

class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  template <typename T>
  bool raw(T* values, size_t count) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (count > rest_.size() / sizeof(T)) {
      return false;
    }
    if (count > 0) {
      std::memcpy(values, rest_.data(), count * sizeof(T));
      rest_.remove_prefix(count * sizeof(T));
    }
    return true;
  }

  template <typename T>
  bool list(std::vector<T>& values, size_t count) {
    if (count > rest_.size() / sizeof(T)) {
      return false;
    }
    values.resize(count);
    return raw(values.data(), count);
  }

  bool text(std::string& value) {
    const size_t end = rest_.find('\0');
    if (end == std::string_view::npos) {
      return false;
    }
    value = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return true;
  }

  bool texts(std::vector<std::string>& values, size_t count) {
    if (count > rest_.size()) {  // each takes a byte at least
      return false;
    }
    values.resize(count);
    for (std::string& value : values) {
      if (!text(value)) {
        return false;
      }
    }
    return true;
  }

  bool done() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

}  // namespace

std::string encode(const LaunchRequest& request) {
  const Header header{static_cast<uint32_t>(request.argv.size()),
                      static_cast<uint32_t>(request.env.size()),
                      static_cast<uint32_t>(request.cores.size()),
                      static_cast<uint32_t>(request.fd_targets.size())};
  std::string out;
  append_raw(out, &header, 1);
  append_raw(out, request.cores.data(), request.cores.size());
  append_raw(out, request.fd_targets.data(), request.fd_targets.size());
  const auto append_text = [&out](const std::string& text) {
    out.append(text.c_str(), text.size() + 1);
  };
  append_text(request.cwd);
  for (const std::string& arg : request.argv) {
    append_text(arg);
  }
  for (const std::string& entry : request.env) {
    append_text(entry);
  }
  return out;
}

std::optional<LaunchRequest> decode(std::string_view bytes) {
  Reader reader(bytes);
  Header header{};
  LaunchRequest request;
  const bool complete = bytes.size() <= kMaxLaunchBytes && reader.raw(&header, 1) &&
                        header.argc > 0 && reader.list(request.cores, header.core_count) &&
                        reader.list(request.fd_targets, header.fd_count) &&
                        reader.text(request.cwd) && reader.texts(request.argv, header.argc) &&
                        reader.texts(request.env, header.envc) && reader.done();
  if (!complete) {
    return std::nullopt;
  }
  return request;
}

}  // namespace prism::local
