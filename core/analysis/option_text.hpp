// SPDX-License-Identifier: Apache-2.0
/// The value of a command-line option that is made of words: `rank=0-7 kind=compute factor=1.14`.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.hpp"
#include "core/config/codes.hpp"
#include "core/config/quantity.hpp"

namespace prism::analysis {

/// `key=value`, and which bytes of the option it is.
struct Word {
  std::string key;
  std::string value;       ///< without the quotes
  size_t begin = 0;        ///< of the key
  size_t value_begin = 0;  ///< of what stands in `value`
  size_t end = 0;
};

/// Words separated by blanks. A value with blanks stands in double quotes, in which nothing is
/// special. Immutable; any thread.
class OptionText {
 public:
  /// Errors (Domain::Config; they show the option, the column and what was expected): no word at
  /// all, a word without '=', without key or value, a quote that does not end, a key twice.
  static Result<OptionText> parse(std::string option, std::string text);

  const std::string& option() const { return option_; }  ///< "--scale"
  const std::string& text() const { return text_; }
  const std::vector<Word>& words() const { return words_; }
  /// nullptr where there is none.
  const Word* find(std::string_view key) const;

  /// A configuration error about bytes [begin, end) of the text.
  Status error(config::ErrorCode code, size_t begin, size_t end, std::string message,
               std::string hint = {}) const;
  Status error_at_key(const Word& word, config::ErrorCode code, std::string message,
                      std::string hint = {}) const {
    return error(code, word.begin, word.begin + word.key.size(), std::move(message),
                 std::move(hint));
  }
  Status error_at_value(const Word& word, config::ErrorCode code, std::string message,
                        std::string hint = {}) const {
    return error(code, word.value_begin, word.value_begin + word.value.size(), std::move(message),
                 std::move(hint));
  }
  /// Of the text as a whole.
  Status error_at_all(config::ErrorCode code, std::string message, std::string hint = {}) const {
    return error(code, 0, text_.size(), std::move(message), std::move(hint));
  }

  /// A word's value as a number with a unit. Errors: as parse_quantity says, in their place.
  Result<int64_t> quantity(const Word& word, config::Quantity quantity) const;

 private:
  OptionText(std::string option, std::string text)
      : option_(std::move(option)), text_(std::move(text)) {}
  Status split();

  std::string option_;
  std::string text_;
  std::vector<Word> words_;
};

}  // namespace prism::analysis
