// SPDX-License-Identifier: Apache-2.0
#include "core/config/classes.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <unordered_map>
#include <variant>

#include "core/base/text.hpp"
#include "core/config/rank_expression.hpp"
#include "core/config/source.hpp"

namespace prism::config {
namespace {

/// More of them in one list help nobody.
constexpr size_t kMaxProblems = 20;

/// Ranks first, first + step, ..., up to last.
struct Piece {
  ClassPlace place;
  uint64_t first = 0;
  uint64_t last = 0;
  uint64_t step = 1;
};

/// Reads "0", "8-15" or "0-56:8" out of an item, split at commas.
class PieceReader {
 public:
  PieceReader(const std::string& text, size_t item, std::vector<ClassProblem>& problems)
      : text_(text), item_(item), problems_(problems) {}

  std::vector<Piece> read() {
    std::vector<Piece> pieces;
    for (size_t begin = 0; begin <= text_.size();) {
      size_t end = std::min(text_.find(',', begin), text_.size());
      i_ = begin;
      end_ = end;
      if (auto piece = read_piece()) {
        pieces.push_back(*piece);
      } else {
        return {};
      }
      begin = end + 1;
    }
    return pieces;
  }

 private:
  std::optional<Piece> read_piece() {
    skip_spaces();
    size_t begin = i_;
    Piece piece;
    if (!number(piece.first)) {
      return std::nullopt;
    }
    piece.last = piece.first;
    if (take('-')) {
      if (!number(piece.last)) {
        return std::nullopt;
      }
      if (take(':') && !number(piece.step)) {
        return std::nullopt;
      }
    }
    piece.place = {item_, begin, i_};
    skip_spaces();
    if (i_ < end_) {
      problem(i_, end_,
              "unexpected '" + printable(text_.substr(i_, end_ - i_)) + "' in a list of ranks");
      return std::nullopt;
    }
    if (piece.last < piece.first) {
      problem(begin, piece.place.end,
              "the range " + std::to_string(piece.first) + "-" + std::to_string(piece.last) +
                  " goes down");
      return std::nullopt;
    }
    if (piece.step == 0) {
      problem(begin, piece.place.end, "the step of a range must be at least 1, not 0");
      return std::nullopt;
    }
    return piece;
  }

  void skip_spaces() {
    while (i_ < end_ && text_[i_] == ' ') {
      ++i_;
    }
  }
  bool take(char c) {
    skip_spaces();
    bool there = i_ < end_ && text_[i_] == c;
    i_ += there ? 1 : 0;
    return there;
  }
  bool number(uint64_t& value) {
    skip_spaces();
    size_t begin = i_;
    value = 0;
    bool fits = true;
    for (; i_ < end_ && text_[i_] >= '0' && text_[i_] <= '9'; ++i_) {
      auto digit = static_cast<uint64_t>(text_[i_] - '0');
      fits = fits && !__builtin_mul_overflow(value, uint64_t{10}, &value) &&
             !__builtin_add_overflow(value, digit, &value);
    }
    if (i_ == begin) {
      problem(begin, std::max(end_, begin + 1),
              "expected a rank such as 8 or a range such as 8-15");
      return false;
    }
    if (!fits) {
      problem(
          begin, i_,
          "the number " + printable(text_.substr(begin, i_ - begin)) + " does not fit in 64 bits");
    }
    return fits;
  }
  void problem(size_t begin, size_t end, std::string message) {
    ClassProblem p;
    p.code = ErrorCode::ClassSyntax;
    p.message = std::move(message);
    p.hint = R"(write ranges like "0-7", "0,8,16-23" or "0-56:8")";
    p.place = ClassPlace{item_, begin, end};
    problems_.push_back(std::move(p));
  }

  const std::string& text_;
  size_t item_;
  std::vector<ClassProblem>& problems_;
  size_t i_ = 0;
  size_t end_ = 0;
};

/// "3, 8-15 and 17 more ranks".
std::string list_missing(const std::vector<uint32_t>& owners, uint32_t nobody) {
  constexpr size_t kMaxRanges = 8;
  std::vector<std::pair<size_t, size_t>> ranges;
  size_t more = 0;
  for (size_t rank = 0; rank < owners.size(); ++rank) {
    if (owners[rank] != nobody) {
      continue;
    }
    if (!ranges.empty() && ranges.back().second + 1 == rank) {
      ranges.back().second = rank;
    } else if (ranges.size() < kMaxRanges) {
      ranges.emplace_back(rank, rank);
    } else {
      ++more;
    }
  }
  if (ranges.empty()) {
    return {};
  }
  bool one = ranges.size() == 1 && ranges[0].first == ranges[0].second;
  std::string text = one ? "rank " : "ranks ";
  for (size_t i = 0; i < ranges.size(); ++i) {
    auto [first, last] = ranges[i];
    text += i > 0 ? ", " : "";
    text += std::to_string(first);
    if (last > first) {
      text += '-';
      text += std::to_string(last);
    }
  }
  text += more > 0 ? " and " + std::to_string(more) + " more" : "";
  return text + (one ? " is" : " are");
}

ClassProblem beyond_world(const Piece& piece, uint32_t world_size) {
  ClassProblem problem;
  problem.code = ErrorCode::Rank;
  problem.message = "rank " + std::to_string(piece.last) + " does not exist: world_size is " +
                    std::to_string(world_size);
  problem.place = piece.place;
  problem.beyond_world = true;
  return problem;
}

std::optional<Classes> from_list(const ClassSpec& spec, uint32_t world_size,
                                 std::vector<ClassProblem>& problems) {
  constexpr uint32_t kNobody = std::numeric_limits<uint32_t>::max();
  size_t problems_before = problems.size();
  std::vector<Piece> pieces;
  for (size_t item = 0; item < spec.items.size() && problems.size() < kMaxProblems; ++item) {
    auto read = PieceReader(spec.items[item], item, problems).read();
    pieces.insert(pieces.end(), read.begin(), read.end());
  }

  Classes classes(spec.items.size());
  std::vector<uint32_t> owners(world_size, kNobody);
  for (size_t p = 0; p < pieces.size() && problems.size() < kMaxProblems; ++p) {
    const Piece& piece = pieces[p];
    if (piece.last >= world_size) {
      problems.push_back(beyond_world(piece, world_size));
      continue;
    }
    // Stops at the first rank that is taken: no text makes this visit more than world_size ranks
    // and one per piece.
    for (uint64_t rank = piece.first; rank <= piece.last; rank += piece.step) {
      if (owners[rank] != kNobody) {
        const Piece& earlier = pieces[owners[rank]];
        ClassProblem problem;
        problem.code = ErrorCode::ClassOverlap;
        problem.message = "rank " + std::to_string(rank) +
                          (earlier.place.item == piece.place.item
                               ? " is twice in class " + std::to_string(piece.place.item)
                               : " is in class " + std::to_string(piece.place.item) +
                                     " and in class " + std::to_string(earlier.place.item));
        problem.hint = "a rank is in exactly one class";
        problem.place = piece.place;
        problem.other = earlier.place;
        problem.other_message = "rank " + std::to_string(rank) + " is first named here";
        problems.push_back(std::move(problem));
        break;
      }
      owners[rank] = static_cast<uint32_t>(p);
      classes[piece.place.item].push_back(static_cast<Rank>(rank));
    }
  }
  // What is left out means nothing while the list itself is wrong.
  if (problems.size() > problems_before) {
    return std::nullopt;
  }
  std::string missing = list_missing(owners, kNobody);
  if (!missing.empty()) {
    ClassProblem problem;
    problem.code = ErrorCode::ClassCover;
    problem.message = missing + " in no class (world_size is " + std::to_string(world_size) + ")";
    problem.hint = "every rank must be in exactly one class";
    problems.push_back(std::move(problem));
    return std::nullopt;
  }
  return classes;
}

std::optional<Classes> from_expression(const std::string& text, uint32_t world_size,
                                       std::vector<ClassProblem>& problems) {
  auto refuse = [&](const RankExpressionProblem& problem) {
    ClassProblem p;
    p.code = problem.in_evaluation ? ErrorCode::ClassValue : ErrorCode::ClassSyntax;
    p.message = problem.message;
    p.hint = problem.hint;
    p.place = ClassPlace{0, problem.begin, problem.end};
    problems.push_back(std::move(p));
    return std::nullopt;
  };
  auto compiled = RankExpression::compile(text);
  if (auto* problem = std::get_if<RankExpressionProblem>(&compiled)) {
    return refuse(*problem);
  }
  const auto& expression = std::get<RankExpression>(compiled);
  Classes classes;
  std::unordered_map<int64_t, size_t> class_of_value;
  for (Rank rank = 0; rank < world_size; ++rank) {
    auto value = expression.evaluate(rank);
    if (auto* problem = std::get_if<RankExpressionProblem>(&value)) {
      return refuse(*problem);
    }
    auto [entry, is_new] = class_of_value.try_emplace(std::get<int64_t>(value), classes.size());
    if (is_new) {
      classes.emplace_back();
    }
    classes[entry->second].push_back(rank);
  }
  return classes;
}

}  // namespace

std::optional<Classes> resolve_classes(const ClassSpec& spec, uint32_t world_size,
                                       std::vector<ClassProblem>& problems) {
  if (spec.is_list) {
    return from_list(spec, world_size, problems);
  }
  std::string text = spec.items.empty() ? std::string() : spec.items.front();
  if (text == "all") {
    Classes classes(1);
    classes[0].resize(world_size);
    std::iota(classes[0].begin(), classes[0].end(), Rank{0});
    return classes;
  }
  if (text == "none") {
    Classes classes(world_size);
    for (Rank rank = 0; rank < world_size; ++rank) {
      classes[rank] = {rank};
    }
    return classes;
  }
  return from_expression(text, world_size, problems);
}

std::optional<std::vector<Rank>> resolve_ranks(const std::string& text, uint32_t world_size,
                                               std::vector<ClassProblem>& problems) {
  const std::vector<Piece> pieces = PieceReader(text, 0, problems).read();
  std::vector<Rank> ranks;
  std::vector<bool> taken(world_size);
  for (const Piece& piece : pieces) {
    if (piece.last >= world_size) {
      problems.push_back(beyond_world(piece, world_size));
      return std::nullopt;
    }
    for (uint64_t rank = piece.first; rank <= piece.last; rank += piece.step) {
      if (taken[rank]) {  // also bounds the work, whatever the text repeats
        ClassProblem problem;
        problem.code = ErrorCode::Duplicate;
        problem.message = "rank " + std::to_string(rank) + " is named twice";
        problem.place = piece.place;
        problems.push_back(std::move(problem));
        return std::nullopt;
      }
      taken[rank] = true;
      ranks.push_back(static_cast<Rank>(rank));
    }
  }
  return pieces.empty() ? std::nullopt : std::optional(std::move(ranks));
}

}  // namespace prism::config
