// SPDX-License-Identifier: Apache-2.0
// S5 of tensor sources: fill() keeps the promises of prism/abi/tensor_source.h.
#include <optional>

#include "prism/host/status.hpp"
#include "prism/sdk/random.hpp"
#include "prism/sdk/tensor.hpp"
#include "sdk/conformance/library.hpp"
#include "sdk/conformance/suite.hpp"
#include "sdk/conformance/tensor_source_interface.hpp"

namespace prism::conformance {
namespace {

/// A tensor source with an open session.
class SourceBench {
 public:
  explicit SourceBench(Context& context)
      : context_(context),
        bench_(context, kTensorSourceKind),
        table_(*static_cast<const prism_tensor_source_t*>(
            bench_.plugin().get_interface(PRISM_TENSOR_SOURCE_1))),
        session_(bench_.open()) {}

  /// From here on with drawn values of the options; false when the source refuses them.
  bool draw_options(sdk::Random& random) {
    session_.close();
    const std::optional<Session> drawn = bench_.open_drawn(random, options_);
    session_ = drawn.value_or(bench_.open());
    return drawn.has_value();
  }

  std::string words(const FillCase& wanted) const {
    return wanted.describe() + (options_.empty() ? "" : ", " + options_);
  }

  /// What fill() made of memory full of `poison`; nothing when the source has no such value.
  std::optional<std::string> fill(const FillCase& wanted, unsigned char poison = 0x5a) {
    const std::string what = words(wanted);
    context_.doing(what);
    GuardedBuffer buffer(wanted.bytes(), poison);
    const prism_tensor_t tensor = wanted.tensor(buffer.data());
    const StrictSink sink;
    const prism_status_t status =
        table_.fill(static_cast<prism_tensor_source_session_t*>(session_.handle()), &wanted.request,
                    &tensor, sink.c());
    buffer.require_intact(what + ":");
    if (status != PRISM_STATUS_OK) {
      const std::string problem = sink.problem(status);
      require(problem.empty(), what + ": " + problem);
      require(status == PRISM_STATUS_INVALID_ARGUMENT,
              what + " failed with status " + host::status_name(status) + sink.quoted() +
                  "; a request that it has no value for is INVALID_ARGUMENT");
      refusal_ = sink.message();
      return std::nullopt;
    }
    served_ = true;
    return buffer.copy();
  }

  void require_served() const {
    if (!served_) {
      skip("the source has no value for any of the requests of this test (its words: " + refusal_ +
           ")");
    }
  }

 private:
  Context& context_;
  Bench bench_;
  const prism_tensor_source_t& table_;
  Session session_;
  std::string options_;  ///< that were drawn
  bool served_ = false;
  std::string refusal_;
};

/// fill_cases() has this shape in all dtypes, and then other shapes.
bool is_plain_shape(const FillCase& one) {
  return one.shape == std::vector<int64_t>{3, 5};
}

void buffers(Context& context) {
  SourceBench source(context);
  for (const FillCase& one : fill_cases(context.seed())) {
    source.fill(one);
  }
  source.require_served();
}

/// An element that stays as it was, whatever that was, has not been written.
void require_every_element(SourceBench& source, const FillCase& one) {
  constexpr unsigned char kPoisons[] = {0x5a, 0xc3, 0x3c};
  std::vector<std::string> filled;
  for (const unsigned char poison : kPoisons) {
    const std::optional<std::string> bytes = source.fill(one, poison);
    require(bytes.has_value() || filled.empty(),
            source.words(one) + " is served once and refused once");
    if (!bytes) {
      return;
    }
    filled.push_back(*bytes);
  }
  const size_t size = sdk::element_size(one.dtype);
  for (size_t i = 0; i < one.bytes(); ++i) {
    bool untouched = true;
    for (size_t n = 0; n < filled.size(); ++n) {
      untouched = untouched && static_cast<unsigned char>(filled[n][i]) == kPoisons[n];
    }
    if (untouched) {
      fail(source.words(one) + ": element " + std::to_string(i / size) + " of " +
           std::to_string(one.elements()) + " is not written");
    }
  }
}

void every_element(Context& context) {
  SourceBench source(context);
  for (const FillCase& one : fill_cases(context.seed())) {
    if (is_plain_shape(one)) {
      require_every_element(source, one);
    }
  }
  source.require_served();
}

void shapes(Context& context) {
  SourceBench source(context);
  for (const FillCase& one : fill_cases(context.seed())) {
    if (!is_plain_shape(one)) {
      require_every_element(source, one);
    }
  }
  source.require_served();
}

/// With other options than the defaults.
void options(Context& context) {
  constexpr int kRounds = 40;
  SourceBench source(context);
  sdk::Random random(sdk::mix({context.seed(), 5}));
  for (int round = 0; round < kRounds; ++round) {
    if (!source.draw_options(random)) {
      continue;
    }
    for (const FillCase& one : fill_cases(context.seed())) {
      require_every_element(source, one);
    }
  }
  source.require_served();
}

void bools(Context& context) {
  SourceBench source(context);
  for (FillCase one : fill_cases(context.seed())) {
    if (one.dtype != PRISM_DTYPE_BOOL) {
      continue;
    }
    one.shape = {500};
    const std::string bytes = source.fill(one).value_or("");
    for (const char byte : bytes) {
      require(byte == 0 || byte == 1, one.describe() + " wrote the byte " +
                                          std::to_string(static_cast<unsigned char>(byte)) +
                                          "; a bool is 0 or 1");
    }
  }
  source.require_served();
}

}  // namespace

void add_tensor_source_tests(Suite& suite) {
  const std::string open = kind_test(3, kTensorSourceKind, "open_close");
  const std::string first = kind_test(5, kTensorSourceKind, "buffers");
  const auto add = [&](const char* what, const char* doc, void (*run)(Context&),
                       const std::string& after) {
    suite.push_back({kind_test(5, kTensorSourceKind, what), doc, run, {after}});
  };
  add("buffers", "It writes the tensor and nothing around it; what it cannot serve, it refuses.",
      buffers, open);
  add("every_element", "It writes every element, of every dtype that it serves.", every_element,
      first);
  add("shapes", "It writes every element of scalars, large, empty and many-dimensional tensors.",
      shapes, first);
  add("options", "It writes every element with any options within their bounds.", options, first);
  add("bools", "A bool is 0 or 1.", bools, first);
}

}  // namespace prism::conformance
