// SPDX-License-Identifier: Apache-2.0
/// Zeros of any type.
#include <cstring>

#include "prism/sdk/plugin.hpp"
#include "prism/sdk/tensor_source.hpp"

namespace prism::tensor_sources {
namespace {

class Zeros {
 public:
  explicit Zeros(const sdk::OptionValues& /*values*/) {}

  void fill(const sdk::TensorRequest& /*request*/, const sdk::Tensor& out) {
    if (out.bytes() > 0) {  // of every type, the bytes of 0 are 0
      std::memset(out.data(), 0, out.bytes());
    }
  }
};

}  // namespace
}  // namespace prism::tensor_sources

PRISM_PLUGIN(PRISM_PLUGIN_ID, PRISM_PLUGIN_VERSION,
             prism::sdk::TensorSource<prism::tensor_sources::Zeros>);
