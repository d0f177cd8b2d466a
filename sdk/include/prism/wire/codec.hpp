// SPDX-License-Identifier: Apache-2.0
/// The bytes of agent.hpp's messages. Include agent.hpp, not this file.
///
/// fields() names every field of a message once, in wire order; the size, the writer and the reader
/// are three visitors of it, so that they cannot differ.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstring>
#include <limits>
#include <string_view>
#include <type_traits>
#include <utility>

#include "prism/wire/agent.hpp"

namespace prism::wire::detail {

static_assert(std::endian::native == std::endian::little, "numbers are copied as they are");

template <typename T, typename Message>
concept Is = std::same_as<std::remove_const_t<T>, Message>;

// fields(): `visit.ranged` names a number that must be in a range.

template <Is<Clocks> T>
void fields(T& m, auto& visit) {
  visit("mono_ns", m.mono_ns);
  visit("cpu_ns", m.cpu_ns);
  visit("cost_mono_ns", m.cost_mono_ns);
  visit("cost_cpu_ns", m.cost_cpu_ns);
  visit("thread", m.thread);
}

template <Is<MadeUp> T>
void fields(T& m, auto& visit) {
  visit.ranged("source", m.source, kMadeUpEcho, kMadeUpSource);
  visit("bytes", m.bytes);
  visit("plugin", m.plugin);
}

template <Is<PluginOption> T>
void fields(T& m, auto& visit) {
  visit.ranged("type", m.type, PRISM_OPTION_BOOL, PRISM_OPTION_PATH);
  visit.ranged("set", m.set, 0, 1);
  visit("bits", m.bits);
  visit("text", m.text);
}

template <Is<Plugin> T>
void fields(T& m, auto& visit) {
  visit("id", m.id);
  visit("library", m.library);
  visit("hash", m.hash);
  visit("options", m.options);
}

template <Is<SourceRule> T>
void fields(T& m, auto& visit) {
  visit("place", m.place);
  visit("kind", m.kind);
  visit("group", m.group);
  visit("dtype", m.dtype);
  visit("ranks", m.ranks);
  visit("shape", m.shape);
  visit("call", m.call);
  visit("source", m.source);
}

template <Is<Hello> T>
void fields(T& m, auto& visit) {
  visit("rank", m.rank);
  visit("world_size", m.world_size);
  visit("pid", m.pid);
  visit("framework", m.framework);
  visit("agent", m.agent);
  visit("clocks", m.clocks);
}

template <Is<Group> T>
void fields(T& m, auto& visit) {
  visit("id", m.id);
  visit.ranged("member", m.member, 0, 1);
  visit("name", m.name);
  visit("description", m.description);
  visit("backend", m.backend);
  visit("ranks", m.ranks);
  visit("clocks", m.clocks);
}

template <Is<Op> T>
void fields(T& m, auto& visit) {
  visit("id", m.id);
  visit("group", m.group);
  visit("sequence", m.sequence);
  visit("batch", m.batch);
  visit.ranged("kind", m.kind, PRISM_COMM_ALL_REDUCE, PRISM_COMM_RECV);
  visit.ranged("reduction", m.reduction, PRISM_REDUCE_NONE, PRISM_REDUCE_PREMUL_SUM);
  visit.ranged("dtype", m.dtype, PRISM_DTYPE_OTHER, PRISM_DTYPE_U64);
  visit.ranged("flags", m.flags, 0, kOpAsync | kOpCoalesced);
  visit.ranged("peer", m.peer, kAnySource, std::numeric_limits<int32_t>::max());
  visit("tag", m.tag);
  visit("input_bytes", m.input_bytes);
  visit("output_bytes", m.output_bytes);
  visit("send_bytes", m.send_bytes);
  visit("recv_bytes", m.recv_bytes);
  visit("clocks", m.clocks);
}

template <Is<Wait> T>
void fields(T& m, auto& visit) {
  visit("op", m.op);
  visit.ranged("via", m.via, kWaitWork, kWaitFuture);
  visit("clocks", m.clocks);
}

template <Is<Done> T>
void fields(T& m, auto& visit) {
  visit("op", m.op);
  visit("made_up", m.made_up);
  visit("clocks", m.clocks);
}

template <Is<Mark> T>
void fields(T& m, auto& visit) {
  visit.ranged("kind", m.kind, kMarkForward, kMarkOptimizerEnd);
  visit("name", m.name);
  visit("clocks", m.clocks);
}

template <Is<Bye> T>
void fields(T& m, auto& visit) {
  visit.ranged("reason", m.reason, kByeReturned, kByeSystemExit);
  visit("exit_code", m.exit_code);
  visit("detail", m.detail);
  visit("files", m.files);
  visit("clocks", m.clocks);
}

template <Is<Welcome> T>
void fields(T& m, auto& visit) {
  visit("seed", m.seed);
  visit("rules", m.rules);
  visit("router", m.router);
}

template <Is<Verdict> T>
void fields(T& m, auto& visit) {
  visit("to", m.to);
  visit.ranged("decision", m.decision, static_cast<int>(Decision::Go),
               static_cast<int>(Decision::Abort));
  visit("reason", m.reason);
}

struct TypeInfo {
  Type type;
  const char* name;
};

/// In the order of Message's alternatives.
inline constexpr std::array<TypeInfo, std::variant_size_v<Message>> kTypes{{
    {Type::Hello, "Hello"},
    {Type::Group, "Group"},
    {Type::Op, "Op"},
    {Type::Wait, "Wait"},
    {Type::Done, "Done"},
    {Type::Mark, "Mark"},
    {Type::Bye, "Bye"},
    {Type::Welcome, "Welcome"},
    {Type::Verdict, "Verdict"},
}};

template <typename T>
concept Number = std::integral<T> || std::is_enum_v<T>;

class Sizer {
 public:
  template <Number T>
  void operator()(const char*, const T&) {
    size_ += sizeof(T);
  }
  void operator()(const char*, const std::string& text) { size_ += sizeof(uint32_t) + text.size(); }
  template <typename T>
  void operator()(const char*, const std::vector<T>& list) {
    size_ += sizeof(uint32_t);
    if constexpr (Number<T>) {
      size_ += list.size() * sizeof(T);
    } else {
      for (const T& element : list) {
        (*this)(nullptr, element);
      }
    }
  }
  template <typename T>
  void operator()(const char*, const std::optional<T>& optional) {
    size_ += sizeof(uint8_t);
    if (optional) {
      (*this)(nullptr, *optional);
    }
  }
  template <typename Struct>
  requires std::is_class_v<Struct>
  void operator()(const char*, const Struct& nested) { fields(nested, *this); }
  template <typename T>
  void ranged(const char*, const T&, int32_t, int32_t) {
    size_ += sizeof(T);
  }
  size_t size() const { return size_; }

 private:
  size_t size_ = 0;
};

/// Bytes that an element of a list has at least: those of one whose texts and lists are empty.
template <typename T>
size_t min_size() {
  Sizer sizer;
  sizer(nullptr, T{});
  return sizer.size();
}

/// Writes where Sizer has made room.
class Writer {
 public:
  explicit Writer(char* to) : to_(to) {}

  template <Number T>
  void operator()(const char*, const T& value) {
    std::memcpy(to_, &value, sizeof(T));
    to_ += sizeof(T);
  }
  void operator()(const char*, const std::string& text) {
    (*this)(nullptr, static_cast<uint32_t>(text.size()));
    to_ = std::copy(text.begin(), text.end(), to_);
  }
  template <typename T>
  void operator()(const char*, const std::vector<T>& list) {
    (*this)(nullptr, static_cast<uint32_t>(list.size()));
    for (const T& element : list) {
      (*this)(nullptr, element);
    }
  }
  template <typename T>
  void operator()(const char*, const std::optional<T>& optional) {
    (*this)(nullptr, static_cast<uint8_t>(optional ? 1 : 0));
    if (optional) {
      (*this)(nullptr, *optional);
    }
  }
  template <typename Struct>
  requires std::is_class_v<Struct>
  void operator()(const char*, const Struct& nested) { fields(nested, *this); }
  template <typename T>
  void ranged(const char*, const T& value, int32_t, int32_t) {
    (*this)(nullptr, value);
  }

 private:
  char* to_;
};

/// Reads a body. After the first error nothing more is read.
class Reader {
 public:
  explicit Reader(std::string_view body) : left_(body) {}

  template <Number T>
  void operator()(const char* name, T& value) {
    if (has(name, sizeof(T))) {
      std::memcpy(&value, left_.data(), sizeof(T));
      left_.remove_prefix(sizeof(T));
    }
  }
  void operator()(const char* name, std::string& text) {
    uint32_t length = 0;
    (*this)(name, length);
    if (has(name, length)) {
      text.assign(left_.data(), length);
      left_.remove_prefix(length);
    }
  }
  template <typename T>
  void operator()(const char* name, std::vector<T>& list) {
    uint32_t count = 0;
    (*this)(name, count);
    if (!has(name, uint64_t{count} * min_size<T>())) {
      return;
    }
    list.resize(count);
    for (uint32_t i = 0; i < count && ok(); ++i) {
      index_ = i;
      (*this)(name, list[i]);
    }
    index_ = kNoIndex;
  }
  template <typename T>
  void operator()(const char* name, std::optional<T>& optional) {
    uint8_t there = 0;
    ranged(name, there, 0, 1);
    if (there != 0 && ok()) {
      (*this)(name, optional.emplace());
    }
  }
  template <typename Struct>
  requires std::is_class_v<Struct>
  void operator()(const char* name, Struct& nested) {
    outer_[depth_++] = {name, std::exchange(index_, kNoIndex)};
    fields(nested, *this);
    --depth_;
  }
  /// A number that must be in [low, high].
  template <typename T>
  void ranged(const char* name, T& value, int32_t low, int32_t high) {
    using Raw = typename std::conditional_t<std::is_enum_v<T>, std::underlying_type<T>,
                                            std::type_identity<T>>::type;
    Raw raw{};
    (*this)(name, raw);
    if (ok() && (raw < low || raw > high)) {
      fail(name, "value " + std::to_string(raw) + ", expected " + std::to_string(low) + " to " +
                     std::to_string(high));
    }
    value = static_cast<T>(raw);
  }

  bool ok() const { return error_.empty(); }
  const std::string& error() const { return error_; }
  size_t left() const { return left_.size(); }

 private:
  static constexpr uint64_t kNoIndex = UINT64_MAX;
  static constexpr size_t kMaxDepth = 4;

  /// A field, or an element of one that is a list.
  struct Place {
    const char* name = nullptr;
    uint64_t index = kNoIndex;

    std::string text() const {
      return index == kNoIndex ? std::string(name)
                               : std::string(name) + "[" + std::to_string(index) + "]";
    }
  };

  bool has(const char* name, uint64_t bytes) {
    if (ok() && bytes > left_.size()) {
      fail(name, "expected " + std::to_string(bytes) + " more bytes, the body has " +
                     std::to_string(left_.size()) + " left");
    }
    return ok();
  }
  void fail(const char* name, const std::string& what) {
    error_ = "field '";
    for (size_t i = 0; i < depth_; ++i) {
      error_ += outer_[i].text() + ".";
    }
    error_ += Place{name, index_}.text() + "': " + what;
  }

  std::string_view left_;
  std::array<Place, kMaxDepth> outer_;  ///< the structs inside which is being read
  size_t depth_ = 0;
  uint64_t index_ = kNoIndex;  ///< of the list element being read
  std::string error_;
};

/// Makes the alternative of Message that kTypes has at `index`.
template <size_t Index = 0>
Message make_message(size_t index) {
  if constexpr (Index + 1 < std::variant_size_v<Message>) {
    if (index != Index) {
      return make_message<Index + 1>(index);
    }
  }
  return Message(std::in_place_index<Index>);
}

struct Header {
  uint32_t magic = kMagic;
  uint16_t version = kVersion;
  uint16_t type = 0;
  uint32_t length = 0;
  uint32_t reserved = 0;
  uint64_t seq = 0;
};
static_assert(sizeof(Header) == kHeaderSize && std::is_trivially_copyable_v<Header>);

inline std::string hex(uint32_t value) {
  std::string text = "0x";
  for (int shift = 28; shift >= 0; shift -= 4) {
    text += "0123456789abcdef"[(value >> shift) & 0xf];
  }
  return text;
}

/// What is wrong with the header of the `number`-th frame; empty when nothing is. The version is
/// looked at before anything that another version might lay out otherwise.
inline std::string check(const Header& header, uint64_t number) {
  if (header.magic != kMagic) {
    return "field 'magic': " + hex(header.magic) + ", expected " + hex(kMagic);
  }
  if (header.version != kVersion) {
    return "field 'version': the sender speaks version " + std::to_string(header.version) +
           " of the agent protocol, this side version " + std::to_string(kVersion);
  }
  if (header.reserved != 0) {
    return "field 'reserved': " + hex(header.reserved) + ", expected 0";
  }
  if (header.length > kMaxBody) {
    return "field 'length': " + std::to_string(header.length) + " bytes, expected at most " +
           std::to_string(kMaxBody);
  }
  if (header.seq != number) {
    return "field 'seq': " + std::to_string(header.seq) + ", expected " + std::to_string(number);
  }
  return {};
}

}  // namespace prism::wire::detail

namespace prism::wire {

inline bool encode(const Frame& frame, std::string& out) {
  detail::Sizer sizer;
  std::visit([&](const auto& message) { detail::fields(message, sizer); }, frame.message);
  if (sizer.size() > kMaxBody) {
    return false;
  }
  detail::Header header;
  header.type = static_cast<uint16_t>(detail::kTypes[frame.message.index()].type);
  header.length = static_cast<uint32_t>(sizer.size());
  header.seq = frame.seq;
  const size_t begin = out.size();
  out.resize(begin + kHeaderSize + sizer.size());
  std::memcpy(out.data() + begin, &header, kHeaderSize);
  detail::Writer writer(out.data() + begin + kHeaderSize);
  std::visit([&](const auto& message) { detail::fields(message, writer); }, frame.message);
  return true;
}

inline void Decoder::feed(const char* data, size_t size) {
  if (!error_.empty()) {
    return;
  }
  buffer_.erase(0, offset_);
  offset_ = 0;
  buffer_.append(data, size);
}

inline std::optional<Frame> Decoder::next() {
  if (!error_.empty() || pending() < kHeaderSize) {
    return std::nullopt;
  }
  const uint64_t number = frames_ + 1;
  detail::Header header;
  std::memcpy(&header, buffer_.data() + offset_, kHeaderSize);
  const auto fail = [&](const char* type, const std::string& what) {
    error_ = "frame " + std::to_string(number);
    error_ += type != nullptr ? std::string(" (") + type + ")" : "";
    error_ += ": " + what;
    buffer_.clear();
    offset_ = 0;
    return std::nullopt;
  };
  if (std::string wrong = detail::check(header, number); !wrong.empty()) {
    return fail(nullptr, wrong);
  }
  const auto* info = std::find_if(
      detail::kTypes.begin(), detail::kTypes.end(),
      [&](const detail::TypeInfo& t) { return static_cast<uint16_t>(t.type) == header.type; });
  if (info == detail::kTypes.end()) {
    return fail(nullptr, "field 'type': " + std::to_string(header.type) +
                             ", expected 1 to 7 (from an agent) or 16, 17 (from a coordinator)");
  }
  if (pending() - kHeaderSize < header.length) {
    return std::nullopt;
  }
  Frame frame{header.seq, detail::make_message(static_cast<size_t>(info - detail::kTypes.begin()))};
  detail::Reader reader({buffer_.data() + offset_ + kHeaderSize, header.length});
  std::visit([&](auto& message) { detail::fields(message, reader); }, frame.message);
  if (!reader.ok()) {
    return fail(info->name, reader.error());
  }
  if (reader.left() != 0) {
    return fail(info->name, "field 'length': " + std::to_string(reader.left()) +
                                " bytes after the last field, expected none");
  }
  offset_ += kHeaderSize + header.length;
  frames_ = number;
  return frame;
}

}  // namespace prism::wire
