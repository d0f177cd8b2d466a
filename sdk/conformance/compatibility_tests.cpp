// SPDX-License-Identifier: Apache-2.0
// S7: the plugin works with hosts that know more than it does, and with those of version 1.0.
#include "sdk/conformance/library.hpp"
#include "sdk/conformance/suite.hpp"

namespace prism::conformance {
namespace {

void newer_host(Context& context) {
  Plugin plugin(context, Placement::Longer, true, PRISM_ABI_MINOR + 7);
  plugin.deinit();
}

void host_1_0(Context& context) {
  Plugin plugin(context, Placement::AtEdge, true, 0);
  plugin.deinit();
}

void same_results(Context& context, const Kind& kind, Placement placement, const char* how) {
  Bench bench(context, kind);
  const Session plain = bench.open();
  const Session other = bench.open();
  for (size_t i = 0; i < bench.interface().request_count(); ++i) {
    require(other.serve(i, placement) == plain.serve(i),
            bench.interface().describe(i) + ", as a struct " + how +
                ", does not give what it gives otherwise");
  }
}

}  // namespace

void add_compatibility_tests(Suite& suite, const std::vector<const Kind*>& kinds) {
  suite.push_back({"S7.newer_host",
                   "It starts under a host of a later minor version.",
                   newer_host,
                   {"S2.init"}});
  suite.push_back({"S7.host_1_0",
                   "It reads no more of the host's table than version 1.0 has.",
                   host_1_0,
                   {"S2.init"}});
  for (const Kind* kind : kinds) {
    if (kind->draft) {
      continue;
    }
    const std::string open = kind_test(3, *kind, "open_close");
    const std::string same = kind_test(9, *kind, "repeat");
    suite.push_back(
        {kind_test(7, *kind, "longer_structs"),
         "Requests of a later minor version give the same results.",
         [kind](Context& c) { same_results(c, *kind, Placement::Longer, "of a later version"); },
         {open, same}});
    suite.push_back(
        {kind_test(7, *kind, "structs_1_0"),
         "It reads no more of a request than version 1.0 has.",
         [kind](Context& c) { same_results(c, *kind, Placement::AtEdge, "of version 1.0"); },
         {open, same}});
  }
}

}  // namespace prism::conformance
