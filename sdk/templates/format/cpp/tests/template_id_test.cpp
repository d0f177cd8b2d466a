// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <string>

#include "prism/sdk/testing/format_session.hpp"

using prism::sdk::testing::failure;
using prism::sdk::testing::FakeHost;
using prism::sdk::testing::FakeTraceReader;
using prism::sdk::testing::FormatSession;
using prism::sdk::testing::Plugin;
using prism::sdk::testing::TraceRecord;

namespace {

int failures = 0;

void expect(bool holds, const char* what) {
  if (!holds) {
    std::printf("FAILED: %s\n", what);
    ++failures;
  }
}

const std::string kFile = "template_id_test.in";
const std::string kCopy = "template_id_test.out";

void write(const std::string& text) {
  std::ofstream(kFile) << text;
}

std::string copy_of_it() {
  std::ifstream file(kCopy);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

// What is thrown is the host's word on the plugin: an option that is not there, a failed open().
int main() try {
  const FakeHost host;
  const Plugin plugin(prism_plugin_v1(), host);
  FormatSession format(plugin);

  const std::string trace =
      "template_id 1\n"
      "rank 1\n"
      "lane 1 stream:7\n"
      "node 0 1000 3000 gemm%0A2\n"
      "end\n";
  write(trace);
  TraceRecord record;
  format.import_trace({kFile}, record);
  expect(record.ranks.size() == 1 && record.ranks[0].rank == 1, "one rank");
  const TraceRecord::Node& node = record.ranks.at(0).nodes.at(0);
  expect(node.name == "gemm\n2", "names");
  expect(node.c.start_ns == 1000 && node.c.end_ns == 3000, "times");
  expect(format.recognises(kFile), "it knows its own file");

  format.export_trace(FakeTraceReader(record.ranks), kCopy);
  expect(copy_of_it() == trace, "what is read is written");

  TraceRecord own;
  FormatSession(plugin, {{"clock", "own"}}).import_trace({kFile}, own);
  expect(own.ranks.at(0).clock != record.ranks[0].clock, "clocks of their own");

  write("template_id 1\nrank x\nend\n");
  TraceRecord none;
  expect(failure([&] { format.import_trace({kFile}, none); }) ==
             kFile + ":2: 'x' is no number that can be",
         "what is damaged is refused, with its place");
  std::remove(kFile.c_str());
  std::remove(kCopy.c_str());
  return failures == 0 ? 0 : 1;
} catch (const std::exception& error) {
  expect(false, error.what());
  return 1;
}
