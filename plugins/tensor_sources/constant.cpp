// SPDX-License-Identifier: Apache-2.0
/// One number in every element.
#include <cmath>
#include <string>

#include "plugins/tensor_sources/elements.hpp"
#include "prism/sdk/plugin.hpp"
#include "prism/sdk/tensor_source.hpp"

namespace prism::tensor_sources {
namespace {

/// Shortest text that says which number it is, as far as people care.
std::string number_text(double value) {
  std::string text = std::to_string(value);
  text.erase(text.find_last_not_of('0') + 1);
  return text.back() == '.' ? text + "0" : text;
}

class Constant {
 public:
  static constexpr auto kOptions =
      sdk::options(sdk::real("value", "What every element is.").required());

  explicit Constant(const sdk::OptionValues& values) : value_(values.real("value")) {}

  void fill(const sdk::TensorRequest& /*request*/, const sdk::Tensor& out) {
    repeat(is_floating(out.dtype()) ? floating(out) : integer(out), out);
  }

 private:
  Element floating(const sdk::Tensor& out) const {
    if (std::fabs(value_) > largest(out.dtype())) {
      throw sdk::Error(PRISM_STATUS_INVALID_ARGUMENT,
                       "value = " + number_text(value_) + " is beyond what type " + type_text(out) +
                           " can hold, at most " + number_text(largest(out.dtype())));
    }
    return floating_element(value_, out.dtype());
  }

  Element integer(const sdk::Tensor& out) const {
    if (value_ != std::floor(value_)) {
      throw sdk::Error(PRISM_STATUS_INVALID_ARGUMENT,
                       "value = " + number_text(value_) +
                           " is no whole number, and the tensor is of type " + type_text(out) +
                           ": give a whole number, or match another dtype");
    }
    const uint64_t most = largest_integer(out.dtype());
    // 2^n as a double is exact where the largest value, 2^n - 1, may not be.
    const double end = std::ldexp(1.0, static_cast<int>(std::bit_width(most)));
    const double begin = is_signed_integer(out.dtype()) ? -end : 0;
    if (value_ < begin || value_ >= end) {
      throw sdk::Error(PRISM_STATUS_INVALID_ARGUMENT,
                       "value = " + number_text(value_) + " does not fit into type " +
                           type_text(out) + ", which goes from " + number_text(begin) + " to " +
                           std::to_string(most));
    }
    return integer_element(value_ < 0 ? static_cast<uint64_t>(static_cast<int64_t>(value_))
                                      : static_cast<uint64_t>(value_),
                           out.dtype());
  }

  /// The largest number that rounds to a finite element.
  static double largest(int32_t dtype) {
    switch (dtype) {
      case PRISM_DTYPE_F8_E4M3:
        return 448;
      case PRISM_DTYPE_F8_E5M2:
        return 57344;
      case PRISM_DTYPE_F16:
        return 65504;
      case PRISM_DTYPE_BF16:
        return 0x1.fep127;
      case PRISM_DTYPE_F32:
      case PRISM_DTYPE_C64:
        return std::numeric_limits<float>::max();
      default:
        return std::numeric_limits<double>::max();
    }
  }

  const double value_;
};

}  // namespace
}  // namespace prism::tensor_sources

PRISM_PLUGIN(PRISM_PLUGIN_ID, PRISM_PLUGIN_VERSION,
             prism::sdk::TensorSource<prism::tensor_sources::Constant>);
