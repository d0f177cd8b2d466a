// SPDX-License-Identifier: Apache-2.0
// S9: the same options and requests give the same bytes, whenever and wherever.
#include <utility>

#include "prism/sdk/random.hpp"
#include "sdk/conformance/child.hpp"
#include "sdk/conformance/library.hpp"
#include "sdk/conformance/suite.hpp"

namespace prism::conformance {
namespace {

constexpr const char* kDigest = "digest";

void repeat(Context& context, const Kind& kind) {
  Bench bench(context, kind);
  const Session session = bench.open();
  for (size_t i = 0; i < bench.interface().request_count(); ++i) {
    const std::string first = session.serve(i);
    require(session.serve(i) == first && bench.open().serve(i) == first,
            bench.interface().describe(i) + " gives other bytes when it is asked again");
  }
}

void order(Context& context, const Kind& kind) {
  Bench bench(context, kind);
  const std::vector<std::string> expected = bench.open().serve_all();
  std::vector<size_t> shuffled(expected.size());
  for (size_t i = 0; i < shuffled.size(); ++i) {
    shuffled[i] = shuffled.size() - 1 - i;
  }
  sdk::Random random(sdk::mix({context.seed(), 9}));
  const Session session = bench.open();
  for (int round = 0; round < 5; ++round) {
    for (const size_t i : shuffled) {
      require(session.serve(i) == expected[i],
              bench.interface().describe(i) + " gives other bytes when other requests come before");
    }
    for (size_t i = shuffled.size(); i-- > 1;) {
      std::swap(shuffled[i], shuffled[random.below(i + 1)]);
    }
  }
}

/// Not a test by itself: leaves a number that stands for all results of this process.
void digest(Context& context, const Kind& kind) {
  Bench bench(context, kind);
  uint64_t all = 0;
  for (const std::string& output : bench.open().serve_all()) {
    for (const char byte : output) {
      all = sdk::mix({all, static_cast<unsigned char>(byte)});
    }
  }
  context.note(std::to_string(all));
}

void processes(Context& context, const Kind& kind) {
  std::string first;
  for (int i = 0; i < 2; ++i) {
    context.doing("running the plugin in a process of its own");
    const Verdict verdict = run_in_child(context.subject(), kind_test(9, kind, kDigest),
                                         context.seed(), kDefaultTimeoutS);
    require(verdict.outcome == Outcome::Pass,
            "in a process of its own: " + std::string(name_of(verdict.outcome)) + ": " +
                verdict.reason);
    require(i == 0 || verdict.reason == first,
            "another process gives other bytes; do they depend on an address, the time or the "
            "process id?");
    first = verdict.reason;
  }
}

}  // namespace

void add_determinism_tests(Suite& suite, const std::vector<const Kind*>& kinds) {
  for (const Kind* kind : kinds) {
    const std::string open = kind_test(3, *kind, "open_close");
    const auto add = [&](const char* what, const char* doc, void (*run)(Context&, const Kind&)) {
      suite.push_back(
          {kind_test(9, *kind, what), doc, [run, kind](Context& c) { run(c, *kind); }, {open}});
    };
    add("repeat", "A request that is repeated gives the same bytes.", repeat);
    add("order", "The order of requests does not matter.", order);
    add("processes", "Two processes give the same bytes.", processes);
    add(kDigest, "Results as a number.", digest);
    suite.back().hidden = true;
  }
}

}  // namespace prism::conformance
