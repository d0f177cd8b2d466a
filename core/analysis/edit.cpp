// SPDX-License-Identifier: Apache-2.0
#include "core/analysis/edit.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <functional>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include "core/config/suggest.hpp"
#include "core/graph/describe.hpp"
#include "core/graph/timing.hpp"

namespace prism::analysis {
namespace {

using config::ErrorCode;
using config::Quantity;
using graph::Program;
using graph::RankTimes;

constexpr std::array<const char*, 4> kOptions = {"--scale", "--set", "--link", "--level"};
constexpr std::array<std::string_view, 1> kScaleKeys = {"factor"};
constexpr std::array<std::string_view, 1> kSetKeys = {"duration"};
constexpr std::array<std::string_view, 5> kLinkKeys = {"latency", "bandwidth", "per_message",
                                                       "reduce_bandwidth", "copy_bandwidth"};
constexpr std::array<std::string_view, 1> kLevelKeys = {"peers"};
constexpr std::array<std::string_view, 3> kPeers = {"replicas", "stages", "calls"};
constexpr double kLargestFactor = 1e6;

std::span<const std::string_view> keys_of(Operation operation) {
  switch (operation) {
    case Operation::Scale:
      return kScaleKeys;
    case Operation::Set:
      return kSetKeys;
    case Operation::Link:
      return kLinkKeys;
    case Operation::Level:
      break;
  }
  return kLevelKeys;
}

Result<const Word*> required(const OptionText& option, std::string_view key,
                             const std::string& example) {
  const Word* word = option.find(key);
  if (word == nullptr) {
    return option.error_at_all(ErrorCode::MissingKey, "'" + std::string(key) + "' is missing",
                               "write " + example);
  }
  return word;
}

Result<double> read_factor(const OptionText& option) {
  PRISM_TRY_ASSIGN(const Word* word, required(option, "factor", "factor=1.14"));
  double value = 0;
  const char* const end = word->value.data() + word->value.size();
  const auto [stop, failure] = std::from_chars(word->value.data(), end, value);
  if (failure != std::errc() || stop != end || !(value >= 0 && value <= kLargestFactor)) {
    return option.error_at_value(*word, ErrorCode::Range,
                                 "factor takes a number from 0 to 1000000, such as 1.14");
  }
  return value;
}

Result<int64_t> read_duration(const OptionText& option, const Word& word) {
  PRISM_TRY_ASSIGN(const int64_t value, option.quantity(word, Quantity::Duration));
  if (value < 0 || value > Edit::kLongest) {
    return option.error_at_value(word, ErrorCode::Range, word.key + " takes 0 ns to 1 h");
  }
  return value;
}

Result<link::Link> read_link(const OptionText& option) {
  PRISM_TRY_ASSIGN(const Word* latency, required(option, "latency", "latency=10us"));
  PRISM_TRY_ASSIGN(const Word* bandwidth, required(option, "bandwidth", "bandwidth=50GB/s"));
  link::Link link;
  PRISM_TRY_ASSIGN(link.latency_ns, read_duration(option, *latency));
  const auto read_bandwidth = [&](const Word& word) -> Result<uint64_t> {
    PRISM_TRY_ASSIGN(const int64_t value, option.quantity(word, Quantity::Bandwidth));
    if (value < 1) {
      return option.error_at_value(word, ErrorCode::Range, word.key + " takes at least 1 B/s");
    }
    return static_cast<uint64_t>(value);
  };
  PRISM_TRY_ASSIGN(link.bandwidth_Bps, read_bandwidth(*bandwidth));
  if (const Word* word = option.find("per_message")) {
    PRISM_TRY_ASSIGN(link.per_message_ns, read_duration(option, *word));
  }
  if (const Word* word = option.find("reduce_bandwidth")) {
    PRISM_TRY_ASSIGN(link.reduce_bandwidth_Bps, read_bandwidth(*word));
  }
  if (const Word* word = option.find("copy_bandwidth")) {
    PRISM_TRY_ASSIGN(link.copy_bandwidth_Bps, read_bandwidth(*word));
  }
  return link;
}

/// Without the word: `stages` where stages are selected, else `replicas`.
Result<Peers> read_peers(const OptionText& option) {
  const Word* word = option.find("peers");
  if (word == nullptr) {
    return option.find("stage") != nullptr ? Peers::Stages : Peers::Replicas;
  }
  const auto* const place = std::find(kPeers.begin(), kPeers.end(), word->value);
  if (place == kPeers.end()) {
    return option.error_at_value(*word, ErrorCode::Choice,
                                 "there are no peers '" + word->value + "'",
                                 config::suggestion(word->value, kPeers));
  }
  return static_cast<Peers>(place - kPeers.begin());
}

/// Changes what is marked in a rank's columns.
using Change = std::function<Edited(Rank, const Marks&, RankTimes&)>;

/// `next`: what was a duration of the rank becomes.
Change change_each(std::function<DurationNs(DurationNs)> next) {
  return [next = std::move(next)](Rank /*rank*/, const Marks& marks, RankTimes& columns) {
    const auto change = [&](const std::vector<bool>& marked, graph::Column& column) {
      for (uint32_t i = 0; i < column.size(); ++i) {
        if (marked[i]) {
          column.set(i, next(column[i]));
        }
      }
    };
    change(marks.nodes, columns.durations);
    change(marks.parts, columns.parts);
    change(marks.gaps, columns.gaps);
    return Edited{0, marks.count, 0};
  };
}

Change change_links(const graph::Job& job, const link::Link& link) {
  return [&job, link, linked = std::map<uint32_t, Program>()](Rank rank, const Marks& marks,
                                                              RankTimes& columns) mutable {
    const auto [entry, is_new] = linked.try_emplace(job.class_of[rank], job.program(rank));
    Program& program = entry->second;
    if (is_new) {
      graph::apply_links(program, [&](const graph::Communicator& /*any*/) { return link; });
    }
    Edited edited;
    const auto count = [&](bool has_size) {
      ++edited.changed;
      edited.sizeless += has_size ? 0U : 1U;
    };
    for (uint32_t id = 0; id < program.nodes.size(); ++id) {
      const graph::Node& node = program.nodes[id];
      if (marks.nodes[id] && node.kind != graph::Kind::Compute) {
        columns.durations.set(id, node.duration);
        count(node.kind == graph::Kind::Transfer || node.kind == graph::Kind::Barrier ||
              node.input_bytes + node.output_bytes > 0);
      }
    }
    for (uint32_t part = 0; part < program.parts.size(); ++part) {
      if (marks.parts[part]) {
        columns.parts.set(part, program.parts[part].duration);
        count(program.parts[part].bytes > 0);
      }
    }
    return edited;
  };
}

/// Leaves what the peers of stages can be compared by.
void keep_computation(const Program& program, Marks& marks) {
  marks.count = 0;
  for (uint32_t id = 0; id < program.nodes.size(); ++id) {
    marks.nodes[id] = marks.nodes[id] && program.nodes[id].kind == graph::Kind::Compute;
    marks.count += marks.nodes[id] ? 1U : 0U;
  }
  marks.parts.assign(marks.parts.size(), false);
}

Status check_longest(const graph::Job& job, Rank rank, const RankTimes& columns) {
  const Program& program = job.program(rank);
  const auto too_long = [](const graph::Column& column, uint32_t index) {
    return !column.longs().empty() && column[index] > Edit::kLongest;
  };
  for (uint32_t id = 0; id < program.nodes.size(); ++id) {
    const graph::Node& node = program.nodes[id];
    bool bad = too_long(columns.durations, id) || too_long(columns.gaps, id);
    for (uint32_t p = node.first_part; p < node.first_part + node.part_count; ++p) {
      bad |= too_long(columns.parts, p);
    }
    if (bad) {
      return config_error(graph::describe_node(job, rank, id) + " would take more than an hour");
    }
  }
  return {};
}

}  // namespace

Result<Edit> Edit::parse(Operation operation, std::string text) {
  PRISM_TRY_ASSIGN(OptionText option,
                   OptionText::parse(kOptions.at(static_cast<size_t>(operation)), std::move(text)));
  PRISM_TRY_ASSIGN(Selector selector, Selector::parse(std::move(option), keys_of(operation)));
  const OptionText& words = selector.option();
  if (selector.selects_gaps() && operation == Operation::Link) {
    return words.error_at_value(*words.find("kind"), ErrorCode::Choice, "a link has no gaps");
  }
  What what;
  switch (operation) {
    case Operation::Scale: {
      PRISM_TRY_ASSIGN(const double factor, read_factor(words));
      what = Factor{factor};
      break;
    }
    case Operation::Set: {
      PRISM_TRY_ASSIGN(const Word* word, required(words, "duration", "duration=3ms"));
      PRISM_TRY_ASSIGN(const DurationNs duration, read_duration(words, *word));
      what = Duration{duration};
      break;
    }
    case Operation::Link: {
      PRISM_TRY_ASSIGN(what, read_link(words));
      break;
    }
    case Operation::Level: {
      PRISM_TRY_ASSIGN(const Peers peers, read_peers(words));
      if (selector.selects_gaps() && peers != Peers::Replicas) {
        return words.error_at_value(*words.find("kind"), ErrorCode::Choice,
                                    "gaps can be compared between replicas only",
                                    "write peers=replicas, or leave the gaps out");
      }
      if (peers == Peers::Stages && !selector.may_select(graph::Kind::Compute)) {
        return words.error_at_value(*words.find("kind"), ErrorCode::Choice,
                                    "stages are compared by what they compute",
                                    "write kind=compute, or peers=replicas or peers=calls");
      }
      what = peers;
      break;
    }
  }
  return Edit(std::move(selector), what);
}

Result<Edited> Edit::apply(const Subject& subject, uint32_t iteration, graph::Times& times) const {
  const graph::Job& job = subject.job();
  const Selection selection(selector_, subject, iteration);
  std::unique_ptr<Level> level;
  Change change;
  if (const auto* factor = std::get_if<Factor>(&what_)) {
    change = change_each([value = factor->value](DurationNs old) {
      const double next = std::min(static_cast<double>(old) * value, 2.0 * kLongest);
      return static_cast<DurationNs>(std::llround(next));
    });
  } else if (const auto* duration = std::get_if<Duration>(&what_)) {
    change = change_each([value = duration->value](DurationNs) { return value; });
  } else if (const auto* link = std::get_if<link::Link>(&what_)) {
    change = change_links(job, *link);
  } else {
    level = make_level(std::get<Peers>(what_), subject, times, selection);
    change = [&](Rank rank, const Marks& marks, RankTimes& columns) {
      return Edited{0, level->apply(rank, marks, columns), 0};
    };
  }

  graph::Times result = times;
  result.set_of.resize(job.world_size, graph::kNone);
  struct Done {
    uint32_t set = graph::kNone;
    Edited edited;
  };
  // Ranks of one class with the same times and the same marks are changed alike.
  std::map<std::tuple<uint32_t, uint32_t, std::vector<bool>>, Done> done;
  Edited total;
  for (Rank rank = 0; rank < job.world_size; ++rank) {
    if (!selection.selects(rank)) {
      continue;
    }
    const uint32_t old_set = result.set_of[rank];
    const auto [entry, is_new] =
        done.try_emplace({job.class_of[rank], old_set, selection.variant(rank)});
    Done& its = entry->second;
    if (is_new) {
      its.set = old_set;
      Marks marks = selection.marks(rank);
      if (const auto* peers = std::get_if<Peers>(&what_);
          peers != nullptr && *peers == Peers::Stages) {
        keep_computation(job.program(rank), marks);
      }
      if (marks.count > 0) {
        RankTimes columns = graph::columns_of(job.program(rank), times.of(rank));
        its.edited = change(rank, marks, columns);
        its.edited.selected = marks.count;
        PRISM_TRY(check_longest(job, rank, columns).context(option().option()));
        if (its.edited.changed > 0) {
          its.set = static_cast<uint32_t>(result.sets.size());
          result.sets.push_back(std::move(columns));
        }
      }
    }
    result.set_of[rank] = its.set;
    total.selected += its.edited.selected;
    total.changed += its.edited.changed;
    total.sizeless += its.edited.sizeless;
  }
  times = std::move(result);
  return total;
}

Status Edit::check_effect(const Edited& total, const Subject& subject, uint32_t iteration) const {
  const bool is_link = std::holds_alternative<link::Link>(what_);
  if (total.selected == 0) {
    return selector_.nothing_selected(subject, iteration);
  }
  if (is_link && total.changed == 0) {
    return option().error_at_all(ErrorCode::Choice, "what is selected is no communication",
                                 "a link changes how long transfers take");
  }
  if (is_link && total.sizeless == total.changed) {
    return option().error_at_all(ErrorCode::Choice,
                                 "the trace does not tell how many bytes are transferred",
                                 "--scale and --set change these transfers");
  }
  if (total.changed == 0) {
    return option().error_at_all(
        ErrorCode::Choice, "what is selected has no peers to be compared with",
        "replicas are ranks that communicate alike, stages those of one pipeline");
  }
  return {};
}

}  // namespace prism::analysis
