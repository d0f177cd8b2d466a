// SPDX-License-Identifier: Apache-2.0
// S6: how the plugin fails, and that it takes a host that listens to nothing.
#include "sdk/conformance/library.hpp"
#include "sdk/conformance/suite.hpp"

namespace prism::conformance {
namespace {

void refuses(Context& context, const Kind& kind) {
  Bench bench(context, kind);
  const Session session = bench.open();
  for (size_t i = 0; i < bench.interface().invalid_count(); ++i) {
    const std::string what = bench.interface().describe_invalid(i);
    context.doing(what);
    const StrictSink sink;
    const prism_status_t status = bench.interface().serve_invalid(session.handle(), i, sink.c());
    require(status != PRISM_STATUS_OK, what + " succeeds; it must be refused");
  }
}

void messages(Context& context, const Kind& kind) {
  Bench bench(context, kind);
  const Session session = bench.open();
  for (size_t i = 0; i < bench.interface().invalid_count(); ++i) {
    const std::string what = bench.interface().describe_invalid(i);
    context.doing(what);
    const StrictSink sink;
    const prism_status_t status = bench.interface().serve_invalid(session.handle(), i, sink.c());
    const std::string problem = sink.problem(status);
    require(problem.empty(), what + " " + problem);
  }
}

void no_sink(Context& context, const Kind& kind) {
  Bench bench(context, kind);
  const Session session = bench.open();
  for (size_t i = 0; i < bench.interface().invalid_count(); ++i) {
    const std::string what = bench.interface().describe_invalid(i) + ", without an error sink";
    context.doing(what);
    const prism_status_t status = bench.interface().serve_invalid(session.handle(), i, nullptr);
    require(status != PRISM_STATUS_OK, what + ", succeeds; it must be refused");
  }
  for (size_t i = 0; i < bench.interface().request_count(); ++i) {
    std::string output;
    context.doing(bench.interface().describe(i) + ", without an error sink");
    bench.interface().serve(session.handle(), i, Placement::Plain, output, nullptr);
  }
}

/// The process goes on after a failure: what comes next is as if nothing had been.
void goes_on(Context& context, const Kind& kind) {
  Bench bench(context, kind);
  const std::vector<std::string> expected = bench.open().serve_all();
  for (size_t i = 0; i < bench.interface().invalid_count(); ++i) {
    const Session session = bench.open();
    context.doing(bench.interface().describe_invalid(i));
    const StrictSink sink;
    bench.interface().serve_invalid(session.handle(), i, sink.c());
    require(session.serve_all() == expected,
            "after " + bench.interface().describe_invalid(i) + " it gives other results");
  }
}

void log(Context& context, const Kind& kind) {
  Bench bench(context, kind);
  const Session session = bench.open();
  session.serve_all();
  session.close();
  bench.plugin().deinit();
  require(bench.plugin().host().problem().empty(), bench.plugin().host().problem());
}

void no_log(Context& context, const Kind& kind) {
  Bench bench(context, kind, Placement::Plain, false);
  const Session session = bench.open();
  session.serve_all();
  session.close();
  bench.plugin().deinit();
}

}  // namespace

void add_error_tests(Suite& suite, const std::vector<const Kind*>& kinds) {
  for (const Kind* kind : kinds) {
    const std::string open = kind_test(3, *kind, "open_close");
    const std::string first = kind_test(6, *kind, "refuses");
    const auto add = [&](const char* what, const char* doc, void (*run)(Context&, const Kind&),
                         const std::string& after) {
      suite.push_back(
          {kind_test(6, *kind, what), doc, [run, kind](Context& c) { run(c, *kind); }, {after}});
    };
    add("refuses", "What nobody could serve is refused.", refuses, open);
    add("messages", "A refusal comes once, with its code and words in UTF-8.", messages, first);
    add("no_sink", "Without an error sink it fails all the same.", no_sink, first);
    add("goes_on", "After a refusal it works as before.", goes_on, first);
    suite.back().depends_on.push_back(kind_test(9, *kind, "repeat"));
    add("log", "Its log lines are UTF-8, their levels known.", log, open);
    add("no_log", "It works where the host does not want its log.", no_log, open);
  }
}

}  // namespace prism::conformance
