// SPDX-License-Identifier: Apache-2.0
#include "core/config/rank_expression.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include "core/base/text.hpp"
#include "core/config/source.hpp"

namespace prism::config {

/// Recursive descent: sum of products of factors. The first problem ends it.
class RankExpressionParser {
 public:
  using Operation = RankExpression::Operation;

  explicit RankExpressionParser(std::string_view text) : text_(text) {}

  std::variant<RankExpression, RankExpressionProblem> parse() {
    if (text_.size() > RankExpression::kMaxLength) {
      return RankExpressionProblem{"the expression is longer than " +
                                       std::to_string(RankExpression::kMaxLength) + " characters",
                                   {},
                                   0,
                                   text_.size(),
                                   false};
    }
    sum();
    if (!problem_ && i_ < text_.size()) {
      std::string_view rest = text_.substr(i_);
      if (rest[0] == '/') {
        fail(i_, i_ + 1, "there is no '/' here", "whole division is written //");
      } else {
        fail(i_, text_.size(), "unexpected '" + printable(rest, 20) + "' in the expression");
      }
    }
    if (!problem_ && !uses_rank_) {
      fail(0, text_.size(), "the expression does not use 'rank', so that all ranks are one class",
           R"(write "all", "none", ["0-7", "8-15"] or an expression such as "rank // 8")");
    }
    if (problem_) {
      return *problem_;
    }
    return std::move(result_);
  }

 private:
  void sum() {
    product();
    while (!problem_) {
      size_t at = next();
      if (take("+")) {
        product();
        emit(Operation::Add, at, at + 1);
      } else if (take("-")) {
        product();
        emit(Operation::Subtract, at, at + 1);
      } else {
        return;
      }
    }
  }

  void product() {
    factor();
    while (!problem_) {
      size_t at = next();
      if (take("*")) {
        factor();
        emit(Operation::Multiply, at, at + 1);
      } else if (take("//")) {
        factor();
        emit(Operation::Divide, at, at + 2);
      } else if (take("%")) {
        factor();
        emit(Operation::Modulo, at, at + 1);
      } else {
        return;
      }
    }
  }

  void factor() {
    size_t negations = 0;
    size_t sign = next();
    while (next() < text_.size() && (text_[i_] == '-' || text_[i_] == '+')) {
      negations += text_[i_++] == '-' ? 1 : 0;
    }
    atom();
    if (negations % 2 == 1) {
      emit(Operation::Negate, sign, sign + 1);
    }
  }

  void atom() {
    size_t begin = next();
    if (take("(")) {
      if (++depth_ > RankExpression::kMaxParentheses) {
        fail(begin, begin + 1,
             "more than " + std::to_string(RankExpression::kMaxParentheses) +
                 " parentheses inside each other");
        return;
      }
      sum();
      --depth_;
      if (!problem_ && (next(), !take(")"))) {
        fail(begin, begin + 1, "this '(' is not closed");
      }
      return;
    }
    auto is_word = [&](size_t k) {
      char c = k < text_.size() ? text_[k] : ' ';
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    };
    size_t end = begin;
    while (is_word(end)) {
      ++end;
    }
    std::string_view word = text_.substr(begin, end - begin);
    if (word.empty()) {
      std::string found =
          begin < text_.size() ? "'" + printable(text_.substr(begin), 20) + "'" : "the end";
      fail(begin, begin + 1, "expected a number, 'rank' or '(', not " + found);
    } else if (word == "rank") {
      uses_rank_ = true;
      i_ = end;
      emit(Operation::Rank, begin, end);
    } else if (std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; })) {
      number(word, begin, end);
    } else {
      fail(begin, end, "unknown name '" + printable(word) + "' in the expression",
           "the only name is 'rank'");
    }
  }

  void number(std::string_view digits, size_t begin, size_t end) {
    int64_t value = 0;
    for (char c : digits) {
      if (__builtin_mul_overflow(value, int64_t{10}, &value) ||
          __builtin_add_overflow(value, int64_t{c - '0'}, &value)) {
        fail(begin, end,
             "the number " + printable(digits, 40) + " is too large: at most " +
                 std::to_string(std::numeric_limits<int64_t>::max()));
        return;
      }
    }
    i_ = end;
    result_.steps_.push_back({Operation::Number, value, begin, end});
  }

  /// Position of the next character that is no space.
  size_t next() {
    while (i_ < text_.size() && (text_[i_] == ' ' || text_[i_] == '\t')) {
      ++i_;
    }
    return i_;
  }
  bool take(std::string_view symbol) {
    bool there = text_.substr(i_).starts_with(symbol);
    i_ += there ? symbol.size() : 0;
    return there;
  }
  void emit(Operation operation, size_t begin, size_t end) {
    result_.steps_.push_back({operation, 0, begin, end});
  }
  void fail(size_t begin, size_t end, std::string message, std::string hint = {}) {
    if (!problem_) {
      problem_ = RankExpressionProblem{std::move(message), std::move(hint), begin, end, false};
    }
  }

  std::string_view text_;
  size_t i_ = 0;
  size_t depth_ = 0;
  bool uses_rank_ = false;
  RankExpression result_;
  std::optional<RankExpressionProblem> problem_;
};

std::variant<RankExpression, RankExpressionProblem> RankExpression::compile(std::string_view text) {
  return RankExpressionParser(text).parse();
}

std::variant<int64_t, RankExpressionProblem> RankExpression::evaluate(Rank rank) const {
  std::vector<int64_t> stack;
  stack.reserve(steps_.size());
  auto problem = [&](const Step& step, const std::string& what) {
    return RankExpressionProblem{
        what + " for rank " + std::to_string(rank), {}, step.begin, step.end, true};
  };
  for (const Step& step : steps_) {
    if (step.operation == Operation::Number || step.operation == Operation::Rank) {
      stack.push_back(step.operation == Operation::Rank ? int64_t{rank} : step.number);
      continue;
    }
    int64_t b = stack.back();
    if (step.operation == Operation::Negate) {
      if (__builtin_sub_overflow(int64_t{0}, b, &stack.back())) {
        return problem(step, "the value does not fit in 64 bits");
      }
      continue;
    }
    stack.pop_back();
    int64_t a = stack.back();
    int64_t& out = stack.back();
    bool overflow = false;
    switch (step.operation) {
      case Operation::Add:
        overflow = __builtin_add_overflow(a, b, &out);
        break;
      case Operation::Subtract:
        overflow = __builtin_sub_overflow(a, b, &out);
        break;
      case Operation::Multiply:
        overflow = __builtin_mul_overflow(a, b, &out);
        break;
      default: {
        if (b == 0) {
          return problem(step, "division by zero");
        }
        if (b == -1) {  // INT64_MIN // -1 has no value, and the processor traps on it
          bool divide = step.operation == Operation::Divide;
          overflow = __builtin_sub_overflow(int64_t{0}, a, &out) && divide;
          out = divide ? out : 0;
          break;
        }
        int64_t remainder = a % b;
        bool down = remainder != 0 && (remainder < 0) != (b < 0);
        out = step.operation == Operation::Divide ? a / b - (down ? 1 : 0)
                                                  : remainder + (down ? b : 0);
      }
    }
    if (overflow) {
      return problem(step, "the value does not fit in 64 bits");
    }
  }
  return stack.back();
}

}  // namespace prism::config
