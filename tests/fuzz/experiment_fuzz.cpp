// SPDX-License-Identifier: Apache-2.0
/// libFuzzer target of the experiment file: whatever is in it, there is an experiment or there are
/// messages, each of which can be shown.
#include <cstdlib>

#include "core/config/experiment.hpp"
#include "tests/fuzz/input_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const prism::config::LoadResult loaded =
      prism::config::load_experiment(prism::fuzz::input_file(data, size));
  if (loaded.experiment.has_value() != loaded.diagnostics.empty()) {
    std::abort();
  }
  if (loaded.experiment) {
    (void)prism::config::render_effective(*loaded.experiment);
  } else if (loaded.diagnostics.text().empty()) {
    std::abort();
  }
  return 0;
}
