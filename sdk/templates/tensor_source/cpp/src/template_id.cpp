// SPDX-License-Identifier: Apache-2.0
// A ramp: start, start + step, start + 2 step, ... The contract of a tensor source is in
// prism/abi/tensor_source.h.
#include <cstddef>
#include <span>
#include <string>

#include "prism/sdk/options.hpp"
#include "prism/sdk/plugin.hpp"
#include "prism/sdk/tensor_source.hpp"

namespace {

using prism::sdk::OptionValues;
using prism::sdk::Tensor;
using prism::sdk::TensorRequest;

class TemplateClass {
 public:
  static constexpr auto kOptions = prism::sdk::options(
      prism::sdk::real("start", "The first element.").by_default("0.0"),
      prism::sdk::real("step", "From one element to the next, in row-major order.")
          .by_default("1.0"));

  explicit TemplateClass(const OptionValues& values)
      : start_(values.real("start")), step_(values.real("step")) {}

  void fill(const TensorRequest& /*request*/, const Tensor& out) const {
    switch (out.dtype()) {
      case PRISM_DTYPE_F32:
        return write(out.as<float>());
      case PRISM_DTYPE_F64:
        return write(out.as<double>());
      default:
        throw prism::sdk::Error(PRISM_STATUS_INVALID_ARGUMENT,
                                "the ramp has elements of type f32 or f64, not " +
                                    std::string(prism::sdk::dtype_name(out.dtype())));
    }
  }

 private:
  template <typename T>
  void write(std::span<T> elements) const {
    for (size_t i = 0; i < elements.size(); ++i) {
      elements[i] = static_cast<T>(start_ + step_ * static_cast<double>(i));
    }
  }

  double start_;
  double step_;
};

}  // namespace

PRISM_PLUGIN(PRISM_PLUGIN_ID, PRISM_PLUGIN_VERSION, prism::sdk::TensorSource<TemplateClass>);
