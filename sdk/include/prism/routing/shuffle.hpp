// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "prism/sdk/random.hpp"

namespace prism::routing {

/// Puts `values` into a random order, each as likely as the others.
template <typename T>
void shuffle(std::span<T> values, sdk::Random& random) {
  for (size_t left = values.size(); left > 1; --left) {
    std::swap(values[left - 1], values[static_cast<size_t>(random.below(left))]);
  }
}

}  // namespace prism::routing
