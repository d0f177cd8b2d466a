// SPDX-License-Identifier: Apache-2.0
/// The execution trace of MLCommons Chakra, a file for each rank.
#include "plugins/formats/chakra/export.hpp"
#include "plugins/formats/chakra/import.hpp"
#include "plugins/formats/chakra/read.hpp"
#include "prism/sdk/plugin.hpp"

namespace prism::chakra {
namespace {

constexpr prism_str_t kClocks[] = {sdk::to_c("auto"), sdk::to_c("shared"), sdk::to_c("own")};

class Chakra {
 public:
  static constexpr bool kExportsFolder = true;
  static constexpr auto kOptions = sdk::options(
      sdk::text("clock",
                "Whether times of ranks can be compared: auto (of traces that Prism wrote or that "
                "tell no start times), shared (all), own (none).")
          .choices(kClocks)
          .by_default("\"auto\""),
      sdk::path("groups",
                "The ranks of process groups that the trace only names: ASTRA-sim's file of "
                "communicator groups."));

  explicit Chakra(const sdk::OptionValues& values) {
    const std::string clock = values.text("clock");
    options_.clock = clock == "shared" ? Clock::Shared : clock == "own" ? Clock::Own : Clock::Auto;
    if (values.has("groups")) {
      options_.groups = values.path("groups");
    }
  }

  /// Also by name: a file that is damaged from its beginning is to be told so.
  static bool recognises(const std::string& path) {
    return path.ends_with(".et") || begins_as_trace(path);
  }
  void import_trace(std::span<const sdk::TraceInput> inputs, sdk::TraceSink& sink) const {
    import_traces(inputs, options_, sink);
  }
  static void export_trace(const sdk::TraceReader& reader, const std::string& folder) {
    export_traces(reader, folder);
  }

 private:
  ImportOptions options_;
};

}  // namespace
}  // namespace prism::chakra

PRISM_PLUGIN(PRISM_PLUGIN_ID, PRISM_PLUGIN_VERSION, prism::sdk::Format<prism::chakra::Chakra>);
