// SPDX-License-Identifier: Apache-2.0
#include "core/config/key_scan.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <vector>

#include "core/base/text.hpp"

namespace prism::config {
namespace {

using Path = std::vector<std::string>;

enum class Kind : uint8_t { Header, ArrayHeader, KeyValue };

/// One header or key as it is written. `path` is relative to `nest` for a key inside a value, and
/// to the last header for a key of a statement.
struct Event {
  Kind kind = Kind::KeyValue;
  Path path;
  Position begin;
  Position end;
};

/// An open "[" or "{" inside a value.
struct Bracket {
  bool is_table = false;
  Path key;          ///< of the value in its table; the index for an element of a list
  size_t items = 0;  ///< elements seen so far, of a list
  size_t depth = 0;  ///< of what is inside
};

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  /// Runs to the end, or until `visit` returns false or the nesting is too deep.
  void run(const std::function<bool(const Event&, const std::vector<Bracket>&)>& visit) {
    size_t header_depth = 0;
    while (skip_blank_lines()) {
      Event event;
      event.begin = at_;
      if (peek() == '[') {
        advance();
        bool array = peek() == '[';
        if (array) {
          advance();
        }
        event.kind = array ? Kind::ArrayHeader : Kind::Header;
        bool good = read_path(event.path) && peek() == ']';
        if (good) {
          advance();
          if (array && peek() == ']') {
            advance();
          }
          event.end = at_;
          header_depth = event.path.size();
          if (too_deep(header_depth, event) || !visit(event, nest_)) {
            return;
          }
        }
        skip_line();
        continue;
      }
      if (!read_key(event) || peek() != '=') {
        skip_line();
        continue;
      }
      if (too_deep(header_depth + event.path.size(), event) || !visit(event, nest_)) {
        return;
      }
      advance();
      if (!read_value(event.path, header_depth, visit)) {
        return;
      }
      skip_line();
    }
  }

  std::optional<Span> too_deep_at;

 private:
  using Visit = std::function<bool(const Event&, const std::vector<Bracket>&)>;

  bool done() const { return i_ >= text_.size(); }
  char peek(size_t ahead = 0) const { return i_ + ahead < text_.size() ? text_[i_ + ahead] : '\0'; }
  bool looking_at(std::string_view word) const { return text_.substr(i_).starts_with(word); }

  void advance() {
    char c = text_[i_++];
    if (c == '\n') {
      at_ = {at_.line + 1, 1};
    } else if (done() || (static_cast<unsigned char>(text_[i_]) & 0xc0) != 0x80) {
      ++at_.column;
    }
  }
  void skip_line() {
    while (!done() && peek() != '\n') {
      advance();
    }
  }
  void skip_spaces() {
    while (!done() && (peek() == ' ' || peek() == '\t')) {
      advance();
    }
  }
  /// To the next thing that is neither space, line end nor comment.
  bool skip_blank_lines() {
    while (!done()) {
      char c = peek();
      if (c == '#') {
        skip_line();
      } else if (c == ' ' || (c >= '\t' && c <= '\r')) {
        advance();
      } else {
        return true;
      }
    }
    return false;
  }

  /// Skips a string of any of the four forms; `content` gets what is between its quotes.
  void read_string(std::string* content) {
    char quote = peek();
    std::string_view triple = quote == '"' ? R"(""")" : "'''";
    bool multi = looking_at(triple);
    for (size_t k = 0; k < (multi ? 3u : 1u); ++k) {
      advance();
    }
    size_t begin = i_;
    while (!done()) {
      if (peek() == '\\' && quote == '"') {
        advance();
        if (!done()) {
          advance();
        }
        continue;
      }
      if (multi ? looking_at(triple) : peek() == quote || peek() == '\n') {
        break;
      }
      advance();
    }
    if (content != nullptr) {
      content->assign(text_.substr(begin, i_ - begin));
    }
    // Up to two quotes may stand right before the closing three.
    for (size_t k = 0; k < (multi ? 5u : 1u) && peek() == quote; ++k) {
      advance();
    }
  }

  bool read_path(Path& path) {
    while (true) {
      skip_spaces();
      std::string part;
      if (peek() == '"' || peek() == '\'') {
        read_string(&part);
      } else {
        static constexpr std::string_view kEnds = ".=[]{}\"',# \t\r\n";
        size_t begin = i_;
        while (!done() && kEnds.find(peek()) == std::string_view::npos) {
          advance();
        }
        if (i_ == begin) {
          return false;
        }
        part = text_.substr(begin, i_ - begin);
      }
      path.push_back(std::move(part));
      path_end_ = at_;
      skip_spaces();
      if (peek() != '.') {
        return true;
      }
      advance();
    }
  }
  bool read_key(Event& event) {
    event.begin = at_;
    bool good = read_path(event.path);
    event.end = path_end_;
    return good;
  }

  bool too_deep(size_t depth, const Event& event) {
    if (depth > kMaxDepth) {
      too_deep_at = Span{event.begin, event.end};
    }
    return depth > kMaxDepth;
  }

  /// A whole value after "=", with everything inside it. False: stop the scan.
  bool read_value(const Path& key, size_t header_depth, const Visit& visit) {
    Path name = key;
    do {
      bool in_table = !nest_.empty() && nest_.back().is_table;
      if (nest_.empty()) {
        skip_spaces();
      } else if (!skip_blank_lines()) {
        break;
      }
      char c = peek();
      if (c == '[' || c == '{') {
        Event event;
        event.begin = at_;
        advance();
        event.end = at_;
        size_t depth = 1 + (nest_.empty() ? header_depth : nest_.back().depth);
        if (nest_.empty() || in_table) {
          depth += name.size();
        } else {
          name = {std::to_string(nest_.back().items)};
        }
        if (too_deep(depth, event)) {
          return false;
        }
        nest_.push_back({c == '{', std::move(name), 0, depth});
        name.clear();
      } else if ((c == ']' || c == '}') && !nest_.empty()) {
        advance();
        nest_.pop_back();
      } else if (c == ',' && !nest_.empty()) {
        ++nest_.back().items;
        advance();
      } else if (in_table && name.empty()) {
        Event event;
        if (!read_key(event) || peek() != '=') {
          break;
        }
        if (too_deep(nest_.back().depth + event.path.size(), event) || !visit(event, nest_)) {
          return false;
        }
        advance();
        name = std::move(event.path);
      } else {
        name.clear();
        if (c == '"' || c == '\'') {
          read_string(nullptr);
        } else if (!skip_scalar()) {
          break;
        }
      }
    } while (!nest_.empty());
    nest_.clear();
    return true;
  }

  bool skip_scalar() {
    static constexpr std::string_view kEnds = ",[]{}#\n";
    size_t begin = i_;
    while (!done() && kEnds.find(peek()) == std::string_view::npos) {
      advance();
    }
    return i_ > begin;
  }

  std::string_view text_;
  size_t i_ = 0;
  Position at_{1, 1};
  Position path_end_;
  std::vector<Bracket> nest_;
};

/// Gives every event its path from the root, with the element number of arrays of tables in it.
class Resolver {
 public:
  Path resolve(const Event& event, const std::vector<Bracket>& nest) {
    if (event.kind == Kind::KeyValue) {
      Path path = table_;
      for (const Bracket& bracket : nest) {
        path.insert(path.end(), bracket.key.begin(), bracket.key.end());
      }
      path.insert(path.end(), event.path.begin(), event.path.end());
      return path;
    }
    table_.clear();
    for (size_t i = 0; i < event.path.size(); ++i) {
      table_.push_back(event.path[i]);
      auto elements = elements_.find(table_);
      bool last = i + 1 == event.path.size();
      if (last && event.kind == Kind::ArrayHeader) {
        Path path = table_;
        size_t count = ++elements_[table_];
        table_.push_back("#" + std::to_string(count));
        return path;
      }
      if (!last && elements != elements_.end()) {
        table_.push_back("#" + std::to_string(elements->second));
      }
    }
    return table_;
  }

 private:
  Path table_;
  std::map<Path, size_t> elements_;
};

bool is_prefix(const Path& a, const Path& b) {
  return a.size() < b.size() && std::equal(a.begin(), a.end(), b.begin());
}

}  // namespace

std::optional<Span> find_too_deep(const Source& source) {
  Scanner scanner(source.text());
  scanner.run([](const Event&, const std::vector<Bracket>&) { return true; });
  return scanner.too_deep_at;
}

std::optional<Redefinition> explain_redefinition(const Source& source, const Position& error,
                                                 bool header) {
  Path target;
  Event found;
  {
    Resolver resolver;
    Scanner(source.text()).run([&](const Event& event, const std::vector<Bracket>& nest) {
      if (event.begin > error) {
        return false;
      }
      Path path = resolver.resolve(event, nest);
      if (header == (event.kind != Kind::KeyValue)) {
        target = std::move(path);
        found = event;
      }
      return true;
    });
  }
  if (target.empty()) {
    return std::nullopt;
  }

  // What may have defined it: the same path; a value where the path needs a table; a dotted key
  // that goes through it; a header of one of its children, which only opens it.
  struct Place {
    Span span;
    std::string written;
  };
  std::optional<Place> same;
  std::optional<Place> value_above;
  std::optional<Place> dotted;
  std::optional<Place> opened;
  Resolver resolver;
  Scanner(source.text()).run([&](const Event& event, const std::vector<Bracket>& nest) {
    if (event.begin >= found.begin) {
      return false;
    }
    Path path = resolver.resolve(event, nest);
    Span span{event.begin, event.end};
    auto keep = [&](std::optional<Place>& place) {
      if (!place) {
        place = Place{span, printable(source.slice(span))};
      }
    };
    if (path == target) {
      keep(same);
    } else if (event.kind == Kind::KeyValue && is_prefix(path, target)) {
      keep(value_above);
    } else if (is_prefix(target, path)) {
      size_t table_size = path.size() - event.path.size();
      keep(event.kind == Kind::KeyValue && target.size() > table_size ? dotted : opened);
    }
    return true;
  });

  Redefinition result;
  result.span = {found.begin, found.end};
  if (same) {
    result.notes.push_back({same->span, "first defined here"});
  } else if (value_above) {
    result.notes.push_back({value_above->span, "'" + value_above->written + "' is defined here"});
  } else if (dotted) {
    result.notes.push_back(
        {dotted->span, "first defined here, by the dotted key '" + dotted->written + "'"});
  }
  if (opened && !same && !value_above) {
    std::string message = dotted ? "opened before that here, as a parent of '"
                                 : "first defined here, as a parent of '";
    result.notes.push_back({opened->span, message + opened->written + "'"});
  }
  return result;
}

}  // namespace prism::config
