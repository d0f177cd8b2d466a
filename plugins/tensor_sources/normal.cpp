// SPDX-License-Identifier: Apache-2.0
/// Normally distributed numbers, bit for bit the same on every machine: of floating-point
/// arithmetic only what IEEE 754 defines to the last bit is used, and log() is our own.
#include <cmath>
#include <cstring>

#include "plugins/tensor_sources/elements.hpp"
#include "prism/sdk/plugin.hpp"
#include "prism/sdk/random.hpp"
#include "prism/sdk/tensor_source.hpp"

namespace prism::tensor_sources {
namespace {

/// Natural logarithm of a normal number above 0: 2 atanh((m - 1) / (m + 1)) with m near 1.
double log_of(double x) {
  constexpr double kLn2 = 0.693147180559945309417;
  constexpr int kLastPower = 21;  // (0.1716^2)^11 is below the last bit
  int exponent = 0;
  double m = std::frexp(x, &exponent);
  if (m < 0.70710678118654752) {
    m *= 2;
    --exponent;
  }
  const double z = (m - 1) / (m + 1);
  const double z2 = z * z;
  double sum = 0;
  for (int power = kLastPower; power >= 1; power -= 2) {
    sum = sum * z2 + 1.0 / power;
  }
  return exponent * kLn2 + 2 * z * sum;
}

/// The polar method of Marsaglia (1964): two numbers of mean 0 and deviation 1 at a time.
class StandardNormal {
 public:
  explicit StandardNormal(uint64_t seed) : random_(seed) {}

  double operator()() {
    if (has_second_) {
      has_second_ = false;
      return second_;
    }
    double x = 0;
    double y = 0;
    double s = 0;
    do {
      x = 2 * random_.uniform() - 1;
      y = 2 * random_.uniform() - 1;
      s = x * x + y * y;
    } while (s >= 1 || s == 0);
    const double scale = std::sqrt(-2 * log_of(s) / s);
    second_ = y * scale;
    has_second_ = true;
    return x * scale;
  }

 private:
  sdk::Random random_;
  double second_ = 0;
  bool has_second_ = false;
};

class Normal {
 public:
  static constexpr auto kOptions =
      sdk::options(sdk::real("mean", "Mean of the numbers.").by_default("0.0"),
                   sdk::real("deviation",
                             "Their standard deviation; of a complex number that of "
                             "each of its two parts.")
                       .range(0.0, std::numeric_limits<double>::max())
                       .by_default("1.0"));

  explicit Normal(const sdk::OptionValues& values)
      : mean_(values.real("mean")), deviation_(values.real("deviation")) {}

  void fill(const sdk::TensorRequest& request, const sdk::Tensor& out) {
    if (!is_floating(out.dtype())) {
      throw sdk::Error(PRISM_STATUS_INVALID_ARGUMENT,
                       "normal numbers need a floating type, and the tensor is of type " +
                           type_text(out) + ": match a floating dtype, or use 'tokens'");
    }
    StandardNormal standard(seed_of(request));
    const bool complex = out.dtype() == PRISM_DTYPE_C64 || out.dtype() == PRISM_DTYPE_C128;
    const int32_t type = out.dtype() == PRISM_DTYPE_C64    ? PRISM_DTYPE_F32
                         : out.dtype() == PRISM_DTYPE_C128 ? PRISM_DTYPE_F64
                                                           : out.dtype();
    const uint64_t numbers = out.elements() * (complex ? 2 : 1);
    auto* to = static_cast<unsigned char*>(out.data());
    for (uint64_t i = 0; i < numbers; ++i) {
      const Element element = floating_element(mean_ + deviation_ * standard(), type);
      std::memcpy(to, element.bytes.data(), element.size);
      to += element.size;
    }
  }

 private:
  const double mean_;
  const double deviation_;
};

}  // namespace
}  // namespace prism::tensor_sources

PRISM_PLUGIN(PRISM_PLUGIN_ID, PRISM_PLUGIN_VERSION,
             prism::sdk::TensorSource<prism::tensor_sources::Normal>);
