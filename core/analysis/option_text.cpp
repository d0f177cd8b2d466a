// SPDX-License-Identifier: Apache-2.0
#include "core/analysis/option_text.hpp"

#include <memory>
#include <variant>

#include "core/config/diagnostics.hpp"
#include "core/config/source.hpp"

namespace prism::analysis {

using config::ErrorCode;

Result<OptionText> OptionText::parse(std::string option, std::string text) {
  OptionText result(std::move(option), std::move(text));
  PRISM_TRY(result.split());
  return result;
}

Status OptionText::split() {
  constexpr std::string_view kBlanks = " \t\n";
  size_t at = text_.find_first_not_of(kBlanks);
  if (at == std::string::npos) {
    return error_at_all(ErrorCode::Empty, "words such as rank=3 are expected");
  }
  while (at != std::string::npos) {
    const size_t stop = std::min(text_.find_first_of(kBlanks, at), text_.size());
    const size_t sign = text_.find('=', at);
    if (sign >= stop) {
      return error(ErrorCode::Syntax, at, stop,
                   "'" + text_.substr(at, stop - at) + "' is no word of the form key=value");
    }
    Word word{text_.substr(at, sign - at), {}, at, sign + 1, stop};
    if (word.key.empty()) {
      return error(ErrorCode::Syntax, at, stop, "there is no key before the '='");
    }
    if (word.value_begin < text_.size() && text_[word.value_begin] == '"') {
      ++word.value_begin;
      const size_t quote = text_.find('"', word.value_begin);
      if (quote == std::string::npos) {
        return error(ErrorCode::Syntax, word.value_begin - 1, text_.size(),
                     "the quote does not end");
      }
      word.value = text_.substr(word.value_begin, quote - word.value_begin);
      word.end = quote + 1;
      if (word.end < text_.size() && kBlanks.find(text_[word.end]) == kBlanks.npos) {
        return error(ErrorCode::Syntax, word.end, word.end + 1,
                     "after a value in quotes a blank is expected");
      }
    } else {
      word.value = text_.substr(word.value_begin, stop - word.value_begin);
    }
    if (word.value.empty()) {
      return error(ErrorCode::Syntax, at, word.end, "'" + word.key + "' has no value");
    }
    if (find(word.key) != nullptr) {
      return error_at_key(word, ErrorCode::Duplicate, "'" + word.key + "' is given twice");
    }
    at = text_.find_first_not_of(kBlanks, word.end);
    words_.push_back(std::move(word));
  }
  return {};
}

const Word* OptionText::find(std::string_view key) const {
  for (const Word& word : words_) {
    if (word.key == key) {
      return &word;
    }
  }
  return nullptr;
}

Status OptionText::error(ErrorCode code, size_t begin, size_t end, std::string message,
                         std::string hint) const {
  auto source = std::make_shared<const config::Source>(option_, text_);
  const config::Span span{source->position(begin), source->position(end)};
  config::Diagnostics diagnostics(std::move(source));
  diagnostics.add({code, span, std::move(message), std::move(hint), {}});
  return diagnostics.status();
}

Result<int64_t> OptionText::quantity(const Word& word, config::Quantity quantity) const {
  const auto parsed = config::parse_quantity(quantity, word.value);
  if (const auto* problem = std::get_if<config::QuantityProblem>(&parsed)) {
    return error(problem->code, word.value_begin + problem->begin, word.value_begin + problem->end,
                 word.key + ": " + problem->message, problem->hint);
  }
  return std::get<int64_t>(parsed);
}

}  // namespace prism::analysis
