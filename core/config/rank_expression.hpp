// SPDX-License-Identifier: Apache-2.0
/// Integer expressions over `rank` with + - * // % and parentheses. // and % round down, as in
/// Python. Everything is 64-bit and checked: an overflow is a problem, not another number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/ids.hpp"

namespace prism::config {

/// Bytes [begin, end) of the text are at fault.
struct RankExpressionProblem {
  std::string message;
  std::string hint;
  size_t begin = 0;
  size_t end = 0;
  bool in_evaluation = false;  ///< the text is right, its value for some rank is not
};

class RankExpression {
 public:
  static constexpr size_t kMaxLength = 1000;
  static constexpr size_t kMaxParentheses = 64;

  static std::variant<RankExpression, RankExpressionProblem> compile(std::string_view text);

  std::variant<int64_t, RankExpressionProblem> evaluate(Rank rank) const;

 private:
  friend class RankExpressionParser;
  enum class Operation : uint8_t { Number, Rank, Negate, Add, Subtract, Multiply, Divide, Modulo };
  /// In postfix order, so that evaluation needs no recursion.
  struct Step {
    Operation operation;
    int64_t number;
    size_t begin;  ///< of the operator, for messages
    size_t end;
  };
  std::vector<Step> steps_;
};

}  // namespace prism::config
