// SPDX-License-Identifier: Apache-2.0
/// The language in which options say which nodes they are about: `stage=2 kind=compute`.
///
///   rank=0-7,16                numbers and ranges; or "EXPRESSION == NUMBER"
///   (config/rank_expression.hpp),
///                              as in rank="rank % 8 == 3"
///   stage= replica=            as Layout says; numbers and ranges
///   iteration= micro_batch= chunk= layer=    numbers and ranges
///   kind=compute,all_reduce    kinds of nodes; communication: all but compute; gap: the time of
///                              the rank's own before nodes. Send and recv are also parts of
///                              batches
///   name= phase= label=        of the node; label: one of the two
///   lane= communicator=        the name of the lane; name or description of the communicator
///
/// All words must hold. Texts may have the wildcards * and ?. Without `kind` all durations are
/// selected, and no gaps.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/analysis/option_text.hpp"
#include "core/analysis/subject.hpp"
#include "core/config/rank_expression.hpp"

namespace prism::analysis {

/// What the words of an option say. Immutable; any thread.
class Selector {
 public:
  enum class Key : uint8_t {
    Rank,
    Stage,
    Replica,
    Kind,
    Label,
    Name,
    Phase,
    MicroBatch,
    Chunk,
    Layer,
    Lane,
    Communicator,
    Iteration,
  };

  /// `own_keys`: words of the option that are no selectors. Errors (Domain::Config, with option and
  /// column): an unknown key, with a suggestion; a value of another form.
  static Result<Selector> parse(OptionText option, std::span<const std::string_view> own_keys);

  const OptionText& option() const { return option_; }
  bool selects_gaps() const;
  bool may_select(graph::Kind kind) const;

  /// Why it selects nothing of a job: the first word that fits nothing by itself, and what there
  /// is; or that no node fits all of them.
  Status nothing_selected(const Subject& subject, uint32_t iteration) const;

 private:
  friend class Selection;
  using Range = std::pair<int64_t, int64_t>;
  struct Condition {
    Key key = Key::Rank;
    size_t word = 0;                                                     ///< in the option
    std::vector<Range> ranges;                                           ///< of numbers
    std::string pattern;                                                 ///< of texts
    uint64_t kinds = 0;                                                  ///< bits by graph::Kind
    bool gaps = false;                                                   ///< of Kind
    std::optional<std::pair<config::RankExpression, int64_t>> equation;  ///< of Rank
  };

  explicit Selector(OptionText option) : option_(std::move(option)) {}
  Result<Condition> condition(const Word& word, Key key) const;
  Status read_ranges(const Word& word, Condition& condition) const;
  Status read_kinds(const Word& word, Condition& condition) const;
  Status read_equation(const Word& word, size_t sign, Condition& condition) const;

  OptionText option_;
  std::vector<Condition> conditions_;
};

/// What is selected at a rank, by the indices of its program.
struct Marks {
  std::vector<bool> nodes;  ///< durations of nodes without parts
  std::vector<bool> parts;
  std::vector<bool> gaps;  ///< by node
  uint64_t count = 0;      ///< that are set
};

/// A selector and a job. Not thread-safe.
class Selection {
 public:
  /// `selector` and `subject` must outlive it. `iteration`: number of the job's first iteration.
  Selection(const Selector& selector, const Subject& subject, uint32_t iteration);

  /// Whether the words about ranks hold: rank, stage, replica.
  bool selects(Rank rank) const;
  /// What the other words select at the rank.
  Marks marks(Rank rank) const;
  /// Ranks of one class with equal variants have equal marks.
  std::vector<bool> variant(Rank rank) const;

 private:
  friend class Selector;
  using Condition = Selector::Condition;
  Selection(const Subject& subject, uint32_t iteration, std::vector<const Condition*> conditions)
      : subject_(subject), iteration_(iteration), conditions_(std::move(conditions)) {}
  bool anything() const;
  bool holds(const Condition& condition, Rank rank) const;

  const Subject& subject_;
  uint32_t iteration_;
  std::vector<const Condition*> conditions_;
};

}  // namespace prism::analysis
