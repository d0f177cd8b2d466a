// SPDX-License-Identifier: Apache-2.0
/// Which functions of plugins are running, noted in memory that outlives the process: a plugin that
/// crashes, hangs or ends the process inside one can be named by whoever watches it.
///
///   host::keep_call_notes(notes);                          // memory that the watcher shares
///   const host::NotedCall call("plugin 'zipf'", "counts");  // until the end of the scope
///   table->counts(...);
///
/// Thread: any. Nothing is noted, and next to nothing is spent, before keep_call_notes().
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <unistd.h>

#include "prism/host/text.hpp"

namespace prism::host {

/// Shared memory that begins as zeros. The watcher trusts nothing in it.
struct CallNotes {
  struct Note {
    std::atomic<int32_t> thread;   ///< that made the call; 0: the note is free
    std::atomic<int32_t> process;  ///< a forked copy notes its own calls
    char text[248];
  };
  std::array<Note, 8> notes;  ///< more calls at once are not noted
};

/// What is running in `process`, "plugin 'zipf' (libprism_zipf.so 0.1.0): counts()"; "" when
/// nothing is.
inline std::string running_call(const CallNotes& notes, int64_t process) {
  for (const CallNotes::Note& note : notes.notes) {
    if (note.thread.load() > 0 && note.process.load() == process) {
      return clean_text({note.text, strnlen(note.text, sizeof note.text)});
    }
  }
  return {};
}

inline std::atomic<CallNotes*>& call_notes() {
  static std::atomic<CallNotes*> notes{nullptr};
  return notes;
}

/// From here on calls are noted there; the memory stays for good. Once per process.
inline void keep_call_notes(CallNotes* notes) {
  call_notes().store(notes);
}

/// The thread that calls this ends the process: what others are in the middle of is not why.
inline void forget_calls_of_other_threads() {
  if (CallNotes* const notes = call_notes().load(); notes != nullptr) {
    for (CallNotes::Note& note : notes->notes) {
      if (note.thread.load() != ::gettid() && note.process.load() == ::getpid()) {
        note.thread.store(0);
      }
    }
  }
}

/// One call, from its construction to its destruction; a plugin that ends the process skips the
/// latter.
class NotedCall {
 public:
  /// `plugin`: as messages name it; `function`: without parentheses.
  NotedCall(std::string_view plugin, std::string_view function) {
    CallNotes* const notes = call_notes().load(std::memory_order_relaxed);
    for (size_t i = 0; notes != nullptr && note_ == nullptr && i < notes->notes.size(); ++i) {
      int32_t nobody = 0;
      if (notes->notes[i].thread.compare_exchange_strong(nobody, kBeingWritten)) {
        note_ = &notes->notes[i];
      }
    }
    if (note_ != nullptr) {
      char* at = note_->text;
      for (const std::string_view part : {plugin, std::string_view(": "), function,
                                          std::string_view("()"), std::string_view("\0", 1)}) {
        const auto room = static_cast<size_t>(note_->text + sizeof note_->text - at);
        at = std::copy_n(part.data(), std::min(part.size(), room), at);
      }
      note_->process.store(::getpid());
      note_->thread.store(::gettid());
    }
  }
  NotedCall(const NotedCall&) = delete;
  NotedCall& operator=(const NotedCall&) = delete;
  ~NotedCall() {
    if (note_ != nullptr) {
      note_->thread.store(0);
    }
  }

 private:
  static constexpr int32_t kBeingWritten = -1;

  CallNotes::Note* note_ = nullptr;
};

}  // namespace prism::host
