// SPDX-License-Identifier: Apache-2.0
#include "core/config/toml_reader.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <toml++/toml.h>
#include <unistd.h>

#include "core/config/key_scan.hpp"

namespace prism::config {
namespace {

Span to_span(const toml::source_region& region) {
  return {{region.begin.line, region.begin.column}, {region.end.line, region.end.column}};
}

/// Recursion is bounded by kMaxDepth, which was checked before.
Value convert(const toml::node& node, Origin origin) {
  Value value;
  value.origin = origin;
  if (origin == Origin::File) {
    value.span = to_span(node.source());
  }
  node.visit([&](const auto& typed) {
    using T = std::remove_cvref_t<decltype(typed)>;
    if constexpr (std::is_same_v<T, toml::table>) {
      Table table;
      table.members.reserve(typed.size());
      for (auto&& [key, child] : typed) {
        Span span = origin == Origin::File ? to_span(key.source()) : Span{};
        table.members.push_back({std::string(key.str()), span, convert(child, origin)});
      }
      std::stable_sort(
          table.members.begin(), table.members.end(),
          [](const Member& a, const Member& b) { return a.key_span.begin < b.key_span.begin; });
      value.data = std::move(table);
    } else if constexpr (std::is_same_v<T, toml::array>) {
      List list;
      list.reserve(typed.size());
      for (const toml::node& child : typed) {
        list.push_back(convert(child, origin));
      }
      value.data = std::move(list);
    } else if constexpr (std::is_same_v<T, toml::value<std::string>>) {
      value.data = typed.get();
    } else if constexpr (std::is_same_v<T, toml::value<int64_t>>) {
      value.data = typed.get();
    } else if constexpr (std::is_same_v<T, toml::value<double>>) {
      value.data = typed.get();
    } else if constexpr (std::is_same_v<T, toml::value<bool>>) {
      value.data = typed.get();
    } else {
      value.data = Date{};
    }
  });
  return value;
}

Diagnostic syntax_error(const Source& source, const toml::parse_error& error) {
  std::string_view text = error.description();
  Diagnostic d;
  d.code = ErrorCode::Syntax;
  d.span = to_span(error.source());
  if (text.find("cannot redefine") != std::string_view::npos ||
      text.find("cannot insert") != std::string_view::npos) {
    d.code = ErrorCode::Redefined;
    if (auto redefinition = explain_redefinition(
            source, d.span.begin, text.find("parsing table header") != std::string_view::npos)) {
      d.span = redefinition->span;
      d.notes = std::move(redefinition->notes);
    }
  }
  if (text.find("could not determine value type") != std::string_view::npos ||
      text.find("parsing boolean") != std::string_view::npos) {
    d.hint = "text needs quotes, as in \"train.py\"";
  } else if (text.find("expected a comment or whitespace") != std::string_view::npos) {
    d.hint = "text and numbers with a unit need quotes, as in \"25 us\"";
  }
  // "Error while parsing key-value pair: ..." -> "invalid TOML in key-value pair: ..."
  constexpr std::string_view kPrefix = "Error while parsing ";
  if (text.starts_with(kPrefix)) {
    text.remove_prefix(kPrefix.size());
  }
  d.message = "invalid TOML in " + printable(text, 300);
  return d;
}

Diagnostics one(Diagnostics diagnostics, ErrorCode code, std::string message, Span span = {},
                std::string hint = {}) {
  diagnostics.add({code, span, std::move(message), std::move(hint), {}, Origin::File});
  return diagnostics;
}

/// Closes on every way out.
struct File {
  int fd;
  ~File() {
    if (fd >= 0) {
      ::close(fd);
    }
  }
};

}  // namespace

std::variant<std::shared_ptr<const Source>, Diagnostics> read_source(const std::string& path) {
  auto refuse = [&](ErrorCode code, std::string message, std::string hint = {}) {
    return one(Diagnostics(path), code, std::move(message), {}, std::move(hint));
  };
  auto system_error = [&] {
    return refuse(ErrorCode::File,
                  std::string("cannot read the experiment file: ") + std::strerror(errno));
  };
  // Not blocking, so that a pipe does not hold up the open.
  File file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  struct stat info {};
  if (file.fd < 0 || ::fstat(file.fd, &info) != 0) {
    return system_error();
  }
  if (S_ISDIR(info.st_mode)) {
    return refuse(ErrorCode::File, "this is a folder, not an experiment file");
  }
  if (!S_ISREG(info.st_mode)) {
    return refuse(ErrorCode::File, "this is not a regular file");
  }
  std::string text;
  while (text.size() <= kMaxFileBytes) {
    constexpr size_t kChunk = size_t{256} << 10;
    size_t size = text.size();
    text.resize(size + kChunk);
    ssize_t got = ::read(file.fd, text.data() + size, kChunk);
    text.resize(size + (got > 0 ? static_cast<size_t>(got) : 0));
    if (got == 0) {
      break;
    }
    if (got < 0 && errno != EINTR) {
      return system_error();
    }
  }
  if (text.size() > kMaxFileBytes) {
    return refuse(ErrorCode::TooLarge, "the file is larger than 16 MiB",
                  "is this an experiment file?");
  }
  if (text.empty()) {
    return refuse(ErrorCode::Empty, "the file is empty",
                  "an experiment needs [experiment], [job] and [parallel]");
  }
  auto source = std::make_shared<const Source>(path, std::move(text));
  size_t bad = find_invalid_utf8(source->text());
  if (bad != std::string_view::npos) {
    static constexpr std::string_view kHex = "0123456789abcdef";
    auto byte = static_cast<unsigned char>(source->text()[bad]);
    Position begin = source->position(bad);
    return one(
        Diagnostics(source), ErrorCode::Encoding,
        std::string("the byte 0x") + kHex[byte >> 4] + kHex[byte & 15] + " is not valid UTF-8",
        {begin, begin}, "save the file as UTF-8");
  }
  return source;
}

std::variant<Value, Diagnostics> parse_toml(std::shared_ptr<const Source> source) {
  if (auto deep = find_too_deep(*source)) {
    return one(Diagnostics(source), ErrorCode::Depth,
               "nested deeper than " + std::to_string(kMaxDepth) + " levels", *deep);
  }
  toml::parse_result result = toml::parse(source->text());
  if (!result) {
    Diagnostics diagnostics(source);
    diagnostics.add(syntax_error(*source, result.error()));
    return diagnostics;
  }
  return convert(result.table(), Origin::File);
}

std::optional<Value> parse_toml_value(std::string_view text, Origin origin) {
  Source source("", "value = " + std::string(text));
  if (find_invalid_utf8(source.text()) != std::string_view::npos || find_too_deep(source)) {
    return std::nullopt;
  }
  toml::parse_result result = toml::parse(source.text());
  if (!result || result.table().size() != 1) {
    return std::nullopt;
  }
  return convert(result.table().begin()->second, origin);
}

}  // namespace prism::config
