// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <variant>

#include "core/analysis/selector.hpp"
#include "core/base/text.hpp"
#include "core/base/wildcard.hpp"
#include "core/graph/describe.hpp"

namespace prism::analysis {
namespace {

using graph::kNone;
using graph::Node;
using graph::Program;
using Key = Selector::Key;

bool is_about_ranks(Key key) {
  return key == Key::Rank || key == Key::Stage || key == Key::Replica;
}

bool in_ranges(const std::vector<std::pair<int64_t, int64_t>>& ranges, int64_t value) {
  return std::any_of(ranges.begin(), ranges.end(), [&](const auto& range) {
    return range.first <= value && value <= range.second;
  });
}

bool has_kind(uint64_t kinds, graph::Kind kind) {
  return (kinds >> static_cast<unsigned>(kind) & 1U) != 0;
}

std::vector<bool> fitting(const std::vector<std::string>& texts, const std::string& pattern) {
  std::vector<bool> result;
  result.reserve(texts.size());
  for (const std::string& text : texts) {
    result.push_back(fits(text, pattern));
  }
  return result;
}

/// The words of one selector against the nodes of one rank.
class NodeTest {
 public:
  NodeTest(const Program& program, uint32_t iteration, std::vector<bool> slots)
      : program_(program), iteration_(iteration), slots_(std::move(slots)) {}

  /// Whether a word that is neither about ranks nor kinds holds for a node; one about communicators
  /// for any of its own.
  bool holds(Key key, const std::vector<std::pair<int64_t, int64_t>>& ranges,
             const std::string& pattern, const std::vector<bool>& texts, uint32_t id) const {
    const Node& node = program_.nodes[id];
    const graph::Labels labels = program_.labels.empty() ? graph::Labels{} : program_.labels[id];
    const auto text_fits = [&](uint32_t text) { return text != kNone && texts[text]; };
    switch (key) {
      case Key::Label:
        return text_fits(labels.name) || text_fits(labels.phase);
      case Key::Name:
        return text_fits(labels.name);
      case Key::Phase:
        return text_fits(labels.phase);
      case Key::MicroBatch:
        return in_ranges(ranges, labels.micro_batch);
      case Key::Chunk:
        return in_ranges(ranges, labels.chunk);
      case Key::Layer:
        return in_ranges(ranges, labels.layer);
      case Key::Iteration:
        return in_ranges(ranges, int64_t{iteration_} + node.iteration);
      case Key::Lane:
        return fits(program_.lanes[node.lane].name, pattern);
      case Key::Communicator:
        return is_on_slot(id);
      default:
        return true;
    }
  }
  bool slot(uint32_t slot) const { return slots_[slot]; }

 private:
  bool is_on_slot(uint32_t id) const {
    const Node& node = program_.nodes[id];
    if (node.kind == graph::Kind::Transfer) {
      return is_on_slot(node.of);
    }
    if (node.communicator != kNone) {
      return slots_[node.communicator];
    }
    for (uint32_t p = node.first_part; p < node.first_part + node.part_count; ++p) {
      if (slots_[program_.parts[p].communicator]) {
        return true;
      }
    }
    return false;
  }

  const Program& program_;
  uint32_t iteration_;
  std::vector<bool> slots_;
};

/// What a job has for a key, for messages.
class Values {
 public:
  void add(int64_t number) {
    if (number >= 0) {
      numbers_.insert(static_cast<Rank>(number));
    }
  }
  void add(const std::string& text) {
    if (!text.empty()) {
      texts_.insert(text);
    }
  }
  std::string in_words() const {
    if (!numbers_.empty()) {
      return "there are " + graph::ranks_in_words({numbers_.begin(), numbers_.end()});
    }
    constexpr size_t kShown = 12;
    std::string list;
    size_t n = 0;
    for (const std::string& text : texts_) {
      if (n == kShown) {
        return list + " and " + std::to_string(texts_.size() - n) + " more";
      }
      list += (n++ == 0 ? "there are '" : ", '") + printable(text) + "'";
    }
    return list.empty() ? "there are none" : list;
  }

 private:
  std::set<Rank> numbers_;
  std::set<std::string> texts_;
};

void add_values_of_nodes(const Program& program, Key key, uint32_t iteration, Values& values) {
  for (uint32_t id = 0; id < program.nodes.size(); ++id) {
    const graph::Labels labels = program.labels.empty() ? graph::Labels{} : program.labels[id];
    const auto text = [&](uint32_t index) {
      return index == kNone ? std::string() : program.texts[index];
    };
    switch (key) {
      case Key::Kind:
        values.add(std::string(graph::to_string(program.nodes[id].kind)));
        break;
      case Key::Label:
        values.add(text(labels.name));
        values.add(text(labels.phase));
        break;
      case Key::Name:
        values.add(text(labels.name));
        break;
      case Key::Phase:
        values.add(text(labels.phase));
        break;
      case Key::MicroBatch:
        values.add(int64_t{labels.micro_batch});
        break;
      case Key::Chunk:
        values.add(int64_t{labels.chunk});
        break;
      case Key::Layer:
        values.add(int64_t{labels.layer});
        break;
      case Key::Iteration:
        values.add(int64_t{iteration} + program.nodes[id].iteration);
        break;
      default:
        break;
    }
  }
}

std::string values_in_words(const Subject& subject, Key key, uint32_t iteration) {
  const graph::Job& job = subject.job();
  Values values;
  for (Rank rank = 0; rank < job.world_size; ++rank) {
    if (key == Key::Rank) {
      values.add(int64_t{rank});
    } else if (key == Key::Stage) {
      values.add(int64_t{subject.layout().stage[rank]});
    } else if (key == Key::Replica) {
      values.add(int64_t{subject.layout().replica[rank]});
    }
  }
  for (const graph::Class& c : job.classes) {
    for (const graph::Lane& lane : c.program.lanes) {
      values.add(key == Key::Lane ? lane.name : "");
    }
    add_values_of_nodes(c.program, key, iteration, values);
  }
  if (key == Key::Communicator) {
    for (const graph::JobCommunicator& communicator : job.communicators) {
      values.add(communicator.description.empty() ? communicator.name : communicator.description);
    }
  }
  return values.in_words();
}

}  // namespace

Selection::Selection(const Selector& selector, const Subject& subject, uint32_t iteration)
    : subject_(subject), iteration_(iteration) {
  conditions_.reserve(selector.conditions_.size());
  for (const Condition& condition : selector.conditions_) {
    conditions_.push_back(&condition);
  }
}

bool Selection::holds(const Condition& condition, Rank rank) const {
  if (condition.key == Key::Stage) {
    return in_ranges(condition.ranges, subject_.layout().stage[rank]);
  }
  if (condition.key == Key::Replica) {
    return in_ranges(condition.ranges, subject_.layout().replica[rank]);
  }
  if (!condition.equation) {
    return in_ranges(condition.ranges, rank);
  }
  const auto value = condition.equation->first.evaluate(rank);
  const auto* number = std::get_if<int64_t>(&value);
  return number != nullptr && *number == condition.equation->second;
}

bool Selection::selects(Rank rank) const {
  return std::all_of(conditions_.begin(), conditions_.end(), [&](const Condition* condition) {
    return !is_about_ranks(condition->key) || holds(*condition, rank);
  });
}

std::vector<bool> Selection::variant(Rank rank) const {
  const graph::Job& job = subject_.job();
  const size_t slots = job.program(rank).communicators.size();
  std::vector<bool> result(slots, true);
  for (const Condition* condition : conditions_) {
    for (uint32_t slot = 0; condition->key == Key::Communicator && slot < slots; ++slot) {
      const uint32_t communicator = job.communicator(rank, slot);
      result[slot] = communicator != kNone &&
                     (fits(job.communicators[communicator].name, condition->pattern) ||
                      fits(job.communicators[communicator].description, condition->pattern));
    }
  }
  return result;
}

Marks Selection::marks(Rank rank) const {
  const Program& program = subject_.job().program(rank);
  const NodeTest test(program, iteration_, variant(rank));
  uint64_t kinds = UINT64_MAX;
  bool gaps = false;
  bool by_communicator = false;
  std::vector<std::pair<const Condition*, std::vector<bool>>> words;
  words.reserve(conditions_.size());
  for (const Condition* condition : conditions_) {
    if (condition->key == Key::Kind) {
      kinds = condition->kinds;
      gaps = condition->gaps;
    } else if (!is_about_ranks(condition->key)) {
      by_communicator |= condition->key == Key::Communicator;
      const bool of_texts = condition->key == Key::Label || condition->key == Key::Name ||
                            condition->key == Key::Phase;
      words.emplace_back(
          condition, of_texts ? fitting(program.texts, condition->pattern) : std::vector<bool>());
    }
  }
  Marks marks;
  marks.nodes.assign(program.nodes.size(), false);
  marks.gaps.assign(program.nodes.size(), false);
  marks.parts.assign(program.parts.size(), false);
  for (uint32_t id = 0; id < program.nodes.size(); ++id) {
    const Node& node = program.nodes[id];
    const bool all_hold = std::all_of(words.begin(), words.end(), [&](const auto& word) {
      const Condition& c = *word.first;
      return test.holds(c.key, c.ranges, c.pattern, word.second, id);
    });
    if (!all_hold) {
      continue;
    }
    marks.gaps[id] = gaps;
    marks.nodes[id] = !graph::has_parts(node.kind) && has_kind(kinds, node.kind);
    marks.count += (marks.gaps[id] ? 1U : 0U) + (marks.nodes[id] ? 1U : 0U);
    for (uint32_t p = node.first_part; p < node.first_part + node.part_count; ++p) {
      const graph::Part& part = program.parts[p];
      marks.parts[p] = (has_kind(kinds, node.kind) || has_kind(kinds, part.kind)) &&
                       (!by_communicator || test.slot(part.communicator));
      marks.count += marks.parts[p] ? 1U : 0U;
    }
  }
  return marks;
}

bool Selection::anything() const {
  for (Rank rank = 0; rank < subject_.job().world_size; ++rank) {
    if (selects(rank) && marks(rank).count > 0) {
      return true;
    }
  }
  return false;
}

Status Selector::nothing_selected(const Subject& subject, uint32_t iteration) const {
  for (const Condition& condition : conditions_) {
    if (Selection(subject, iteration, {&condition}).anything()) {
      continue;
    }
    const Word& word = option_.words()[condition.word];
    std::string hint = values_in_words(subject, condition.key, iteration);
    if (condition.key == Key::Stage && subject.layout().stages == 0) {
      hint = "the job has no pipeline whose stages could be told";
    }
    return option_.error_at_value(word, config::ErrorCode::Choice,
                                  "no node has " + word.key + "=" + word.value, std::move(hint));
  }
  return option_.error_at_all(config::ErrorCode::Choice, "no node fits all of these words",
                              conditions_.size() > 1 ? "each of them fits some" : "");
}

}  // namespace prism::analysis
