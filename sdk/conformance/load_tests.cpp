// SPDX-License-Identifier: Apache-2.0
// S1: loading the library, from an empty folder, and nothing more.
#include <chrono>

#include "sdk/conformance/library.hpp"
#include "sdk/conformance/process.hpp"
#include "sdk/conformance/process_state.hpp"
#include "sdk/conformance/suite.hpp"

namespace prism::conformance {
namespace {

void load(Context& context) {
  constexpr int64_t kSlowMs = 200;
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  const Library library(context);
  const int64_t ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin).count();
  if (ms > kSlowMs) {
    warn("loading takes " + std::to_string(ms) + " ms; more than " + std::to_string(kSlowMs) +
         " ms delay every command: do the work in init() or open()");
  }
}

void quiet(Context& context) {
  const uint64_t before = Context::output_bytes();
  const Library library(context);
  const uint64_t printed = Context::output_bytes() - before;
  require(printed == 0, "it printed " + std::to_string(printed) +
                            " bytes while it was loaded; a library has nothing to say then");
}

void threads(Context& context) {
  const size_t before = thread_count();
  const Library library(context);
  const size_t after = settled_thread_count(before);
  require(after <= before, "loading started " + std::to_string(after - before) +
                               " threads; start them in init() or open(), where the host knows");
}

void process(Context& context) {
  const ProcessState before;
  const Library library(context);
  const std::string changed = before.difference();
  require(changed.empty(), "after loading, " + changed + "; that belongs to the whole process");
}

}  // namespace

void add_load_tests(Suite& suite) {
  suite.push_back({"S1.load", "It loads with all symbols bound, within 200 ms.", load, {"S0.elf"}});
  suite.push_back({"S1.quiet", "Loading prints nothing.", quiet, {"S1.load"}});
  suite.push_back({"S1.threads", "Loading starts no threads.", threads, {"S1.load"}});
  suite.push_back({"S1.process",
                   "Loading leaves signals, limits, umask, folder, environment, locale alone.",
                   process,
                   {"S1.load"}});
}

}  // namespace prism::conformance
