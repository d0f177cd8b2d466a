// SPDX-License-Identifier: Apache-2.0
// S3: init and deinit, sessions that are opened and closed, and what is left behind.
#include "sdk/conformance/library.hpp"
#include "sdk/conformance/process.hpp"
#include "sdk/conformance/process_state.hpp"
#include "sdk/conformance/suite.hpp"

namespace prism::conformance {
namespace {

constexpr int kManySessions = 100;

void init_twice(Context& context) {
  Plugin plugin(context);
  plugin.init();
  plugin.deinit();
  plugin.deinit();
  for (int i = 0; i < 3; ++i) {
    plugin.init();
    plugin.deinit();
  }
}

void threads(Context& context) {
  const size_t before = thread_count();
  Plugin plugin(context);
  plugin.deinit();
  const size_t after = settled_thread_count(before);
  require(after <= before, "deinit() leaves " + std::to_string(after - before) +
                               " threads running; it must join them");
}

void require_unchanged(const ProcessState& before, const std::string& after) {
  const std::string changed = before.difference();
  require(changed.empty(), "after " + after + ", " + changed +
                               "; that belongs to the whole process, leave it as it was");
}

void process(Context& context) {
  const ProcessState before;
  Plugin plugin(context);
  require_unchanged(before, "init()");
  plugin.deinit();
  require_unchanged(before, "deinit()");
}

void process_of_sessions(Context& context, const Kind& kind) {
  Bench bench(context, kind);
  const ProcessState before;
  const Session session = bench.open();
  require_unchanged(before, "open()");
  session.serve_all();
  require_unchanged(before, "the requests");
  session.close();
  require_unchanged(before, "close()");
}

void open_close(Context& context, const Kind& kind) {
  Bench bench(context, kind);
  for (int i = 0; i < kManySessions; ++i) {
    bench.open().close();
  }
  bench.plugin().deinit();
}

void leftovers(Context& context, const Kind& kind) {
  Bench bench(context, kind);
  const size_t threads_before = thread_count();
  const size_t left = files_left_open([&] {
    const Session session = bench.open();
    session.serve_all();
    session.close();
  });
  require(left == 0,
          "5 sessions left " + std::to_string(left) + " files open; close() must close them");
  bench.plugin().deinit();
  const size_t threads_after = settled_thread_count(threads_before);
  require(threads_after <= threads_before, "after close() and deinit(), " +
                                               std::to_string(threads_after - threads_before) +
                                               " threads of it still run; it must join them");
}

void two_sessions(Context& context, const Kind& kind) {
  Bench bench(context, kind);
  const Session first = bench.open();
  const Session second = bench.open();
  const std::vector<std::string> expected = first.serve_all();
  first.close();
  require(second.serve_all() == expected,
          "a session gives other results after another was used and closed");
  second.close();
}

}  // namespace

void add_lifecycle_tests(Suite& suite, const std::vector<const Kind*>& kinds) {
  suite.push_back({"S3.init_twice",
                   "init and deinit can be repeated, also without the other between.",
                   init_twice,
                   {"S2.init"}});
  suite.push_back({"S3.threads", "deinit leaves no threads.", threads, {"S2.init"}});
  suite.push_back({"S3.process",
                   "init and deinit leave signals, limits, umask, folder, environment, locale "
                   "alone.",
                   process,
                   {"S2.init"}});
  for (const Kind* kind : kinds) {
    const std::string open = kind_test(3, *kind, "open_close");
    suite.push_back({open,
                     "100 sessions are opened and closed, unused.",
                     [kind](Context& c) { open_close(c, *kind); },
                     {"S2.interfaces"}});
    suite.push_back({kind_test(3, *kind, "leftovers"),
                     "Sessions leave no open files and no threads.",
                     [kind](Context& c) { leftovers(c, *kind); },
                     {open}});
    suite.push_back({kind_test(3, *kind, "process"),
                     "Sessions leave signals, limits, umask, folder, environment, locale alone.",
                     [kind](Context& c) { process_of_sessions(c, *kind); },
                     {open}});
    suite.push_back({kind_test(3, *kind, "two_sessions"),
                     "Closing one session does not touch the other.",
                     [kind](Context& c) { two_sessions(c, *kind); },
                     {open, kind_test(9, *kind, "repeat")}});
  }
}

}  // namespace prism::conformance
