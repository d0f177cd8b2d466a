// SPDX-License-Identifier: Apache-2.0
/// Agent <-> coordinator: what an intercepted rank tells, and what it is told to do.
/// Specified in docs/agent-protocol.md. Transport: an inherited SOCK_STREAM socketpair; tensors
/// travel as memfds beside a frame. All numbers little-endian; strings are UTF-8 with a u32 length.
///
/// A frame is a header of kHeaderSize bytes and a body of `length` bytes. Bodies come from an
/// untrusted process: every size is checked against what is left before it is used.
/// This header has the definitions and, through codec.hpp, the code: it depends on std only, so
/// that core and an agent inside a training process share it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "prism/abi/comm.h"
#include "prism/abi/option.h"

namespace prism::wire {

inline constexpr uint32_t kMagic = 0x4d535250;  // "PRSM"
inline constexpr uint16_t kVersion = 2;
inline constexpr uint32_t kHeaderSize = 24;
inline constexpr uint32_t kMaxBody = 16u << 20;

enum class Type : uint16_t {
  Hello = 1,
  Group = 2,
  Op = 3,
  Wait = 4,
  Done = 5,
  Mark = 6,
  Bye = 7,
  Welcome = 16,
  Verdict = 17,
};

/// Time of an event: when the agent was entered, and what it has cost so far. Both clocks are those
/// of the thread that caused the event. The program's own time between two events of a thread is
/// (mono2 - mono1) - (cost_mono2 - cost_mono1), likewise for the CPU clock: `cost` counts what the
/// agent had consumed in this thread before this event.
struct Clocks {
  int64_t mono_ns = 0;       ///< CLOCK_MONOTONIC
  int64_t cpu_ns = 0;        ///< CLOCK_THREAD_CPUTIME_ID
  int64_t cost_mono_ns = 0;  ///< cumulative, this thread, before this event
  int64_t cost_cpu_ns = 0;
  uint32_t thread = 0;  ///< 0, 1, ... in order of the first event
  bool operator==(const Clocks&) const = default;
};

/// First frame of a rank. Answered by Welcome.
struct Hello {
  uint32_t rank = 0;
  uint32_t world_size = 0;
  uint64_t pid = 0;
  std::string framework{};  ///< e.g. "torch 2.11.0+cu130"
  std::string agent{};      ///< version of the agent
  Clocks clocks{};
  bool operator==(const Hello&) const = default;
};

/// A communicator was created by this rank, or by others in a call that this rank took part in.
struct Group {
  uint32_t id = 0;     ///< of this rank: 0, 1, ... in order of creation calls seen
  uint8_t member = 0;  ///< whether this rank is in it
  std::string name{};
  std::string description{};
  std::string backend{};          ///< "gloo", "nccl"
  std::vector<uint32_t> ranks{};  ///< logical ranks in group order
  Clocks clocks{};
  bool operator==(const Group&) const = default;
};

inline constexpr uint8_t kOpAsync = 1;      ///< the caller gets a Work and may go on
inline constexpr uint8_t kOpCoalesced = 2;  ///< part of the batch `batch`
inline constexpr int32_t kNoPeer = -1;
inline constexpr int32_t kAnySource = -2;

/// A communication was issued. Answered by Verdict.
struct Op {
  uint64_t id = 0;        ///< of this rank: 1, 2, ...
  uint32_t group = 0;     ///< Group::id
  uint64_t sequence = 0;  ///< n-th collective of the communicator, from 0; sends and receives: 0
  uint64_t batch = 0;     ///< parts that were coalesced share a number > 0
  uint8_t kind = 0;       ///< PRISM_COMM_
  uint8_t reduction = 0;  ///< PRISM_REDUCE_
  uint8_t dtype = 0;      ///< PRISM_DTYPE_
  uint8_t flags = 0;      ///< kOpAsync, ...
  int32_t peer =
      kNoPeer;  ///< root of a rooted collective or other end of a message: group position
  int32_t tag = 0;
  uint64_t input_bytes = 0;            ///< what this rank contributes
  uint64_t output_bytes = 0;           ///< what this rank gets
  std::vector<uint64_t> send_bytes{};  ///< all-to-all: per group position; else empty
  std::vector<uint64_t> recv_bytes{};
  Clocks clocks{};
  bool operator==(const Op&) const = default;
};

inline constexpr uint8_t kWaitWork = 1;  ///< Work::wait or synchronize
inline constexpr uint8_t kWaitFuture =
    2;  ///< the future was taken: the place of the wait is unseen

/// The program waits for an operation. Answered by Verdict.
struct Wait {
  uint64_t op = 0;
  uint8_t via = kWaitWork;
  Clocks clocks{};
  bool operator==(const Wait&) const = default;
};

inline constexpr uint8_t kMadeUpEcho = 1;    ///< peers mirror this rank
inline constexpr uint8_t kMadeUpFill = 2;    ///< small pseudo-random numbers, or zeros for integers
inline constexpr uint8_t kMadeUpStore = 3;   ///< a key of the store that no rank had set
inline constexpr uint8_t kMadeUpSource = 4;  ///< of a tensor source, by a rule of Welcome

/// Bytes that no peer has sent.
struct MadeUp {
  uint8_t source = 0;  ///< kMadeUp
  uint64_t bytes = 0;
  std::string plugin{};  ///< id of the tensor source; else empty
  bool operator==(const MadeUp&) const = default;
};

/// The outputs of an operation are in place.
struct Done {
  uint64_t op = 0;  ///< 0: not an operation (a store access)
  std::vector<MadeUp> made_up{};
  Clocks clocks{};
  bool operator==(const Done&) const = default;
};

inline constexpr uint8_t kMarkForward = 1;         ///< first forward of a root module after a step
inline constexpr uint8_t kMarkOptimizerBegin = 2;  ///< before an optimizer step
inline constexpr uint8_t kMarkOptimizerEnd = 3;    ///< after it

/// A place in the program that is no communication.
struct Mark {
  uint8_t kind = 0;
  std::string name{};
  Clocks clocks{};
  bool operator==(const Mark&) const = default;
};

inline constexpr uint8_t kByeReturned = 1;    ///< the script came to its end
inline constexpr uint8_t kByeException = 2;   ///< `detail` is the traceback
inline constexpr uint8_t kByeSystemExit = 3;  ///< sys.exit; `exit_code`

/// Last frame of a rank that ends by itself.
struct Bye {
  uint8_t reason = 0;
  int32_t exit_code = 0;
  std::string detail{};
  std::vector<std::string> files{};  ///< source files that were imported: what results depend on
  Clocks clocks{};
  bool operator==(const Bye&) const = default;
};

/// prism_option_value_t.
struct PluginOption {
  uint8_t type = PRISM_OPTION_BOOL;
  uint8_t set = 0;
  uint64_t bits = 0;   ///< of the boolean, the integer or the real number
  std::string text{};  ///< of STRING and PATH
  bool operator==(const PluginOption&) const = default;
};

/// A plugin that the agent loads into the process of the rank, found and checked by the
/// coordinator; see prism/host/library.hpp.
struct Plugin {
  std::string id{};
  std::string library{};                ///< absolute path
  std::string hash{};                   ///< host::library_hash of the library that was checked
  std::vector<PluginOption> options{};  ///< one per row of the plugin's table
  bool operator==(const Plugin&) const = default;
};

/// What absent peers would have sent, where all conditions that are there hold.
struct SourceRule {
  std::string place{};                           ///< "exp.toml:31", for messages
  std::optional<uint8_t> kind{};                 ///< PRISM_COMM_
  std::optional<std::string> group{};            ///< description of the communicator
  std::optional<uint8_t> dtype{};                ///< PRISM_DTYPE_
  std::optional<std::vector<uint32_t>> ranks{};  ///< the rank that gets the tensor is one of these
  std::optional<std::vector<int64_t>> shape{};   ///< of the tensor; -1: any extent
  std::optional<uint64_t> call{};  ///< the n-th communication of its kind on its communicator
  Plugin source{};
  bool operator==(const SourceRule&) const = default;
};

/// Answer to Hello.
struct Welcome {
  uint64_t seed = 0;                ///< of made-up values
  std::vector<SourceRule> rules{};  ///< the first that matches holds
  std::optional<Plugin> router{};
  bool operator==(const Welcome&) const = default;
};

enum class Decision : uint8_t {
  Go = 1,     ///< go on; the agent makes the outputs itself
  Value = 2,  ///< outputs come in a memfd beside this frame
  Block = 3,  ///< stay here until another verdict for the same frame
  Abort = 4,  ///< end the process; `reason` says why
};

/// Answer to Op and Wait.
struct Verdict {
  uint64_t to = 0;  ///< header seq of the frame that is answered
  Decision decision = Decision::Go;
  std::string reason{};
  bool operator==(const Verdict&) const = default;
};

using Message = std::variant<Hello, Group, Op, Wait, Done, Mark, Bye, Welcome, Verdict>;

struct Frame {
  uint64_t seq = 0;  ///< per sender: 1, 2, ...
  Message message;
  bool operator==(const Frame&) const = default;
};

/// Appends the bytes of a frame to `out`. A message over kMaxBody is cut nowhere: returns false and
/// appends nothing. Allocates only when `out` has no room: reuse the string.
inline bool encode(const Frame& frame, std::string& out);

/// Takes frames out of a byte stream. Not thread-safe.
///
///   decoder.feed(data, n);
///   while (auto frame = decoder.next()) { ... }
///   if (!decoder.error().empty()) { ... }   // final: the stream is unusable
///
/// Feed and drain in turn: what is kept is then one frame and one piece at most.
class Decoder {
 public:
  /// Copies `size` bytes; after an error they are dropped.
  void feed(const char* data, size_t size);
  /// The next whole frame; nothing when more bytes are needed or after an error.
  std::optional<Frame> next();
  /// Why the stream cannot be read: which frame, which field, what was expected. Empty: no error.
  const std::string& error() const { return error_; }
  /// Bytes of an unfinished frame.
  size_t pending() const { return buffer_.size() - offset_; }

 private:
  std::string buffer_;
  size_t offset_ = 0;
  uint64_t frames_ = 0;
  std::string error_;
};

}  // namespace prism::wire

#include "prism/wire/codec.hpp"
