// SPDX-License-Identifier: Apache-2.0
#include "core/analysis/selector.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <variant>

#include "core/config/suggest.hpp"

namespace prism::analysis {
namespace {

using config::ErrorCode;
using graph::Kind;
using Key = Selector::Key;

/// In the order of Selector::Key.
constexpr std::array<std::string_view, 13> kKeys = {
    "rank",        "stage", "replica", "kind", "label",        "name",     "phase",
    "micro_batch", "chunk", "layer",   "lane", "communicator", "iteration"};
static_assert(kKeys.size() == static_cast<size_t>(Key::Iteration) + 1);

constexpr std::array kKinds = {
    Kind::Compute, Kind::AllReduce, Kind::AllGather, Kind::ReduceScatter, Kind::AllToAll,
    Kind::Barrier, Kind::Broadcast, Kind::Scatter,   Kind::Reduce,        Kind::Gather,
    Kind::Send,    Kind::Recv,      Kind::Batch,     Kind::Transfer};
constexpr std::string_view kCommunication = "communication";
constexpr std::string_view kGap = "gap";

constexpr uint64_t bit(Kind kind) {
  return uint64_t{1} << static_cast<unsigned>(kind);
}

bool is_number(Key key) {
  switch (key) {
    case Key::Rank:
    case Key::Stage:
    case Key::Replica:
    case Key::MicroBatch:
    case Key::Chunk:
    case Key::Layer:
    case Key::Iteration:
      return true;
    default:
      return false;
  }
}

std::vector<std::string_view> kind_names() {
  std::vector<std::string_view> names;
  names.reserve(kKinds.size() + 2);
  for (const Kind kind : kKinds) {
    names.emplace_back(graph::to_string(kind));
  }
  names.push_back(kCommunication);
  names.push_back(kGap);
  return names;
}

/// The pieces between commas, and where each begins.
std::vector<std::pair<std::string_view, size_t>> pieces(std::string_view text) {
  std::vector<std::pair<std::string_view, size_t>> result;
  size_t begin = 0;
  while (begin <= text.size()) {
    const size_t comma = std::min(text.find(',', begin), text.size());
    result.emplace_back(text.substr(begin, comma - begin), begin);
    begin = comma + 1;
  }
  return result;
}

std::optional<int64_t> whole_number(std::string_view text) {
  uint32_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

}  // namespace

Result<Selector> Selector::parse(OptionText option, std::span<const std::string_view> own_keys) {
  Selector selector(std::move(option));
  const std::vector<Word>& words = selector.option_.words();
  for (size_t i = 0; i < words.size(); ++i) {
    if (std::find(own_keys.begin(), own_keys.end(), words[i].key) != own_keys.end()) {
      continue;
    }
    const auto place = std::find(kKeys.begin(), kKeys.end(), words[i].key);
    if (place == kKeys.end()) {
      std::vector<std::string_view> known(own_keys.begin(), own_keys.end());
      known.insert(known.end(), kKeys.begin(), kKeys.end());
      std::string hint = config::suggestion(words[i].key, known);
      if (hint.empty()) {
        for (const std::string_view key : known) {
          hint += (hint.empty() ? "there are " : ", ") + std::string(key);
        }
      }
      return selector.option_.error_at_key(words[i], ErrorCode::UnknownKey,
                                           "unknown key '" + words[i].key + "'", hint);
    }
    PRISM_TRY_ASSIGN(Condition condition,
                     selector.condition(words[i], static_cast<Key>(place - kKeys.begin())));
    condition.word = i;
    selector.conditions_.push_back(std::move(condition));
  }
  return selector;
}

bool Selector::selects_gaps() const {
  return std::any_of(conditions_.begin(), conditions_.end(),
                     [](const Condition& condition) { return condition.gaps; });
}

bool Selector::may_select(Kind kind) const {
  return std::all_of(conditions_.begin(), conditions_.end(), [&](const Condition& condition) {
    return condition.key != Key::Kind || (condition.kinds & bit(kind)) != 0;
  });
}

Result<Selector::Condition> Selector::condition(const Word& word, Key key) const {
  Condition result;
  result.key = key;
  if (key == Key::Kind) {
    PRISM_TRY(read_kinds(word, result));
  } else if (const size_t sign = word.value.find("==");
             key == Key::Rank && sign != word.value.npos) {
    PRISM_TRY(read_equation(word, sign, result));
  } else if (is_number(key)) {
    PRISM_TRY(read_ranges(word, result));
  } else {
    result.pattern = word.value;
  }
  return result;
}

Status Selector::read_ranges(const Word& word, Condition& condition) const {
  for (const auto& [piece, offset] : pieces(word.value)) {
    const size_t dash = piece.find('-');
    const std::optional<int64_t> first = whole_number(piece.substr(0, dash));
    const std::optional<int64_t> last =
        dash == piece.npos ? first : whole_number(piece.substr(dash + 1));
    if (!first || !last || *last < *first) {
      const size_t begin = word.value_begin + offset;
      return option_.error(
          ErrorCode::Rank, begin, begin + std::max<size_t>(1, piece.size()),
          word.key + " takes numbers and ascending ranges, such as 0-7,16; not '" + word.value +
              "'",
          condition.key == Key::Rank ? R"(or an equation, such as rank="rank % 8 == 3")" : "");
    }
    condition.ranges.emplace_back(*first, *last);
  }
  return {};
}

Status Selector::read_kinds(const Word& word, Condition& condition) const {
  for (const auto& [piece, offset] : pieces(word.value)) {
    if (piece == kGap) {
      condition.gaps = true;
    } else if (piece == kCommunication) {
      for (const Kind kind : kKinds) {
        condition.kinds |= kind == Kind::Compute ? 0 : bit(kind);
      }
    } else {
      const auto same = [name = piece](Kind kind) { return graph::to_string(kind) == name; };
      const auto* const kind = std::find_if(kKinds.begin(), kKinds.end(), same);
      if (kind == kKinds.end()) {
        const std::vector<std::string_view> names = kind_names();
        std::string hint = config::suggestion(piece, names);
        if (hint.empty()) {
          for (const std::string_view name : names) {
            hint += (hint.empty() ? "there are " : ", ") + std::string(name);
          }
        }
        const size_t begin = word.value_begin + offset;
        return option_.error(ErrorCode::Choice, begin, begin + std::max<size_t>(1, piece.size()),
                             "there is no kind '" + std::string(piece) + "'", std::move(hint));
      }
      condition.kinds |= bit(*kind);
    }
  }
  return {};
}

Status Selector::read_equation(const Word& word, size_t sign, Condition& condition) const {
  const std::string_view text = word.value;
  auto compiled = config::RankExpression::compile(text.substr(0, sign));
  if (const auto* problem = std::get_if<config::RankExpressionProblem>(&compiled)) {
    return option_.error(ErrorCode::ClassSyntax, word.value_begin + problem->begin,
                         word.value_begin + problem->end, problem->message);
  }
  const size_t begin = std::min(text.find_first_not_of(' ', sign + 2), text.size());
  const size_t end = text.find_last_not_of(' ') + 1;
  const std::optional<int64_t> number =
      whole_number(text.substr(begin, std::max(end, begin) - begin));
  if (!number) {
    return option_.error(ErrorCode::Rank, word.value_begin + sign, word.value_begin + text.size(),
                         "after '==' a whole number is expected", R"(write rank="rank % 8 == 3")");
  }
  condition.equation.emplace(std::get<config::RankExpression>(std::move(compiled)), *number);
  return {};
}

}  // namespace prism::analysis
