// SPDX-License-Identifier: Apache-2.0
/// Traces of PyTorch's profiler (Kineto), for import.
#include "plugins/formats/kineto/import.hpp"
#include "plugins/formats/kineto/source.hpp"
#include "prism/sdk/plugin.hpp"

namespace prism::kineto {
namespace {

constexpr prism_str_t kClocks[] = {sdk::to_c("auto"), sdk::to_c("shared"), sdk::to_c("own")};

class Kineto {
 public:
  static constexpr auto kOptions = sdk::options(
      sdk::text("clock",
                "Whether times of ranks can be compared: auto (those of one host, where the files "
                "are named HOST_PROCESS.TIME.pt.trace.json), shared (all), own (none).")
          .choices(kClocks)
          .by_default("\"auto\""));

  explicit Kineto(const sdk::OptionValues& values) : clock_(clock_of(values.text("clock"))) {}

  static bool recognises(const std::string& path) {
    const std::string head = head_of(path);
    if (head.size() >= 262 && head.substr(257, 5) == "ustar") {
      return head.substr(0, 100).find(".json") != std::string::npos ||
             head.find("\"schemaVersion\"") != std::string::npos;
    }
    const size_t mark = head.starts_with("\xef\xbb\xbf") ? 3 : 0;  // of UTF-8
    const size_t begin = head.find_first_not_of(" \t\r\n", mark);
    if (begin == std::string::npos || head[begin] != '{') {
      return false;
    }
    for (const std::string_view word :
         {"\"deviceProperties\"", "\"distributedInfo\"", "\"cuda_runtime\"", "\"cpu_op\""}) {
      if (head.find(word) != std::string::npos) {
        return true;
      }
    }
    return head.find("\"schemaVersion\"") != std::string::npos &&
           head.find("\"traceEvents\"") != std::string::npos;
  }

  void import_trace(std::span<const sdk::TraceInput> inputs, sdk::TraceSink& sink) const {
    import_traces(inputs, clock_, sink);
  }

 private:
  static std::string head_of(const std::string& path) {
    const std::unique_ptr<Source> source = open_source(path);
    std::string head(4096, '\0');
    size_t size = 0;
    while (size < head.size()) {
      const size_t more = source->read(head.data() + size, head.size() - size);
      if (more == 0) {
        break;
      }
      size += more;
    }
    head.resize(size);
    return head;
  }

  static Clock clock_of(const std::string& name) {
    return name == "shared" ? Clock::Shared : name == "own" ? Clock::Own : Clock::Auto;
  }

  const Clock clock_;
};

}  // namespace
}  // namespace prism::kineto

PRISM_PLUGIN(PRISM_PLUGIN_ID, PRISM_PLUGIN_VERSION, prism::sdk::Format<prism::kineto::Kineto>);
