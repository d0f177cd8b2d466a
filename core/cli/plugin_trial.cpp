// SPDX-License-Identifier: Apache-2.0
#include "core/cli/plugin_trial.hpp"

#include <cstdint>
#include <fcntl.h>
#include <string_view>
#include <unistd.h>

#include "core/base/log.hpp"
#include "core/cli/doctor/child.hpp"
#include "prism/host/call_notes.hpp"
#include "sdk/child/memory_file.hpp"
#include "sdk/child/supervisor.hpp"

namespace prism::cli {
namespace {

struct Notes {
  int32_t process;  ///< of the child
  int32_t back;     ///< 1: `body` came back
  host::CallNotes calls;
};

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written <= 0) {
      return false;
    }
    text.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

int run_body(const std::function<std::string()>& body, Notes& notes, int output) {
  log::open_file("");
  const int null = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  ::dup2(null, STDOUT_FILENO);
  child::limit_resources();
  const pid_t self = ::getpid();
  notes.process = self;
  host::keep_call_notes(&notes.calls);
  const std::string answer = body();
  // A copy that a plugin has forked has nothing to say.
  if (::getpid() != self) {
    ::_exit(0);
  }
  notes.back = 1;
  // Not through exit handlers, which the plugins may have added to.
  ::_exit(write_all(output, answer) ? 0 : 1);
}

}  // namespace

Result<std::string> try_in_child(const std::string& whom, std::chrono::milliseconds timeout,
                                 const std::function<std::string()>& body) {
  const child::MemoryFile memory("prism-call-notes");
  const bool sized = ::ftruncate(memory.fd(), sizeof(Notes)) == 0;
  const child::Shared<Notes> notes(memory.fd());
  if (!sized || !notes) {
    return Status(Code::ResourceExhausted, Domain::Environment, "no memory to share with a child");
  }
  ChildResult child =
      in_child([&](int output) { return run_body(body, *notes.get(), output); }, timeout);
  if (child.output.size() >= kMaxChildOutput) {
    return plugin_error(whom + " has more to say than the " + std::to_string(kMaxChildOutput) +
                        " bytes that are read");
  }
  if (child.ok && notes->back == 1) {
    return std::move(child.output);
  }
  if (child.stopped) {
    return Status(Code::Cancelled, Domain::Interrupted, "interrupted");
  }
  const std::string call = host::running_call(notes->calls, notes->process);
  return plugin_error((call.empty() ? whom : call) +
                      " did not come back in the process that tries it: " +
                      (child.ok ? "it called exit" : child.ending));
}

}  // namespace prism::cli
