// SPDX-License-Identifier: Apache-2.0
/// Token numbers: whole numbers below the size of a vocabulary, each as likely as the others.
#include <cstring>
#include <string>

#include "plugins/tensor_sources/elements.hpp"
#include "prism/sdk/plugin.hpp"
#include "prism/sdk/random.hpp"
#include "prism/sdk/tensor_source.hpp"

namespace prism::tensor_sources {
namespace {

class Tokens {
 public:
  static constexpr auto kOptions =
      sdk::options(sdk::integer("vocabulary", "Numbers go from 0 to one below this.")
                       .range(int64_t{1}, std::numeric_limits<int64_t>::max())
                       .required());

  explicit Tokens(const sdk::OptionValues& values)
      : vocabulary_(static_cast<uint64_t>(values.integer("vocabulary"))) {}

  void fill(const sdk::TensorRequest& request, const sdk::Tensor& out) {
    const uint64_t largest = largest_integer(out.dtype());
    if (largest <= 1) {
      throw sdk::Error(PRISM_STATUS_INVALID_ARGUMENT,
                       "tokens are whole numbers, and the tensor is of type " + type_text(out) +
                           ": match an integer dtype");
    }
    if (vocabulary_ - 1 > largest) {
      throw sdk::Error(PRISM_STATUS_INVALID_ARGUMENT,
                       "tokens of vocabulary = " + std::to_string(vocabulary_) +
                           " do not fit into type " + type_text(out) + ", which ends at " +
                           std::to_string(largest));
    }
    sdk::Random random(seed_of(request));
    auto* to = static_cast<unsigned char*>(out.data());
    for (uint64_t i = 0; i < out.elements(); ++i) {
      const Element element = integer_element(random.below(vocabulary_), out.dtype());
      std::memcpy(to, element.bytes.data(), element.size);
      to += element.size;
    }
  }

 private:
  const uint64_t vocabulary_;
};

}  // namespace
}  // namespace prism::tensor_sources

PRISM_PLUGIN(PRISM_PLUGIN_ID, PRISM_PLUGIN_VERSION,
             prism::sdk::TensorSource<prism::tensor_sources::Tokens>);
