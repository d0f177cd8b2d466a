// SPDX-License-Identifier: Apache-2.0
#include "sdk/conformance/test.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <sys/stat.h>
#include <unistd.h>

namespace prism::conformance {
namespace {

void copy_text(std::string_view text, char* to, size_t capacity) {
  const size_t length = std::min(text.size(), capacity - 1);
  std::memcpy(to, text.data(), length);
  to[length] = '\0';
}

}  // namespace

std::string_view name_of(Outcome outcome) {
  constexpr std::string_view kNames[] = {"pass", "warn",  "skip",   "blocked",
                                         "fail", "crash", "timeout"};
  return kNames[static_cast<uint32_t>(outcome)];
}

bool is_failure(Outcome outcome) {
  return outcome >= Outcome::Fail;
}

void fail(std::string reason) {
  throw Stop{{Outcome::Fail, std::move(reason)}};
}
void warn(std::string reason) {
  throw Stop{{Outcome::Warn, std::move(reason)}};
}
void skip(std::string reason) {
  throw Stop{{Outcome::Skip, std::move(reason)}};
}
void require(bool held, const std::string& reason) {
  if (!held) {
    fail(reason);
  }
}

// From several threads at once the last text wins, or a mixture. A lock would put the plugin's
// calls in an order, and hide its own races from a sanitizer.
void Report::set_doing(std::string_view text) {
  const size_t length = std::min(text.size(), kDoing - 1);
  for (size_t i = 0; i < length; ++i) {
    std::atomic_ref(doing[i]).store(text[i], std::memory_order_relaxed);
  }
  std::atomic_ref(doing[length]).store('\0', std::memory_order_relaxed);
}

void Report::set(const Verdict& verdict) {
  outcome = static_cast<uint32_t>(verdict.outcome);
  copy_text(verdict.reason, reason, kReason);
  finished = 1;
}

Verdict Report::verdict() const {
  const uint32_t known = std::min(outcome, static_cast<uint32_t>(Outcome::Timeout));
  return {static_cast<Outcome>(known), std::string(reason, strnlen(reason, kReason))};
}

void Context::end_copy() {
  if (getpid() != owner_) {
    report_.came_back = 1;
    _exit(0);
  }
}

uint64_t Context::output_bytes() {
  std::fflush(nullptr);  // what was printed may still be in the library's buffer
  uint64_t bytes = 0;
  struct stat info {};
  if (fstat(STDOUT_FILENO, &info) == 0 && S_ISREG(info.st_mode)) {
    bytes = static_cast<uint64_t>(info.st_size);  // standard error goes into the same file
  }
  return bytes;
}

int Test::stage() const {
  return std::atoi(name.c_str() + 1);
}

namespace {

Verdict run_with(Context& context, const Test& test) {
  Verdict verdict;
  try {
    context.doing("starting the test");
    test.run(context);
    verdict.reason = context.note();
  } catch (const Stop& stop) {
    return stop.verdict;
  } catch (const std::exception& error) {
    return {Outcome::Fail, std::string("an exception left the plugin: ") + error.what()};
  } catch (...) {
    return {Outcome::Fail, "something that is no std::exception left the plugin"};
  }
  const uint64_t printed = Context::output_bytes() - context.forgiven_output();
  if (printed > 0 && !test.hidden) {
    return {Outcome::Warn, "it printed " + std::to_string(printed) +
                               " bytes; what it has to say belongs into the host's log"};
  }
  return verdict;
}

}  // namespace

Verdict run_here(const Test& test, const Subject& subject, uint64_t seed, Report& report) {
  Context context(subject, seed, report);
  Verdict verdict = run_with(context, test);
  context.end_copy();
  return verdict;
}

}  // namespace prism::conformance
