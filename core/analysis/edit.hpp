// SPDX-License-Identifier: Apache-2.0
/// "What if": a change of how long some nodes take. The structure stays.
///
///   scale  'SELECTOR factor=1.14'
///   set    'SELECTOR duration=3ms'
///   link   'SELECTOR latency=10us bandwidth=50GB/s'   keys of [link.NAME] in the experiment file;
///                      transfers are computed by the link model, as `prism run` does
///   level  'SELECTOR peers=replicas|stages|calls'     the median of the peers (level.hpp)
///
/// A communication whose data a transfer node moves takes no time of its own: `link` gives the time
/// to the transfer, if that is selected (kind=communication selects both).
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "core/analysis/level.hpp"
#include "core/analysis/selector.hpp"
#include "core/graph/times.hpp"
#include "prism/link/link.hpp"

namespace prism::analysis {

enum class Operation : uint8_t { Scale, Set, Link, Level };

/// What an edit did.
struct Edited {
  uint64_t selected = 0;  ///< durations and gaps that the selector names
  uint64_t changed = 0;   ///< of these, that the edit could give a time to
  uint64_t sizeless = 0;  ///< link: transfers of 0 bytes, which take the latency alone
};

/// Immutable; any thread.
class Edit {
 public:
  static constexpr DurationNs kLongest = 3'600'000'000'000;  ///< what a node may take, an hour

  /// Errors (Domain::Config): those of the selector; a key of the operation that is missing, or a
  /// value out of range; kind=gap where the operation has nothing to say about gaps.
  static Result<Edit> parse(Operation operation, std::string text);

  /// Changes what the selected nodes take; ranks that then differ from their class get sets of
  /// their own, shared by those that are changed alike. `iteration`: number of the job's first
  /// iteration. Errors: a node would take more than an hour.
  Result<Edited> apply(const Subject& subject, uint32_t iteration, graph::Times& times) const;

  /// Whether the edit had an effect, where `total` is the sum over all runs that it was applied to.
  /// Errors (Domain::Config): nothing is selected, and what there is; nothing of it is a
  /// communication, or has peers; a link where no transfer has a size.
  Status check_effect(const Edited& total, const Subject& subject, uint32_t iteration) const;

  const OptionText& option() const { return selector_.option(); }

 private:
  struct Factor {
    double value;
  };
  struct Duration {
    DurationNs value;
  };
  using What = std::variant<Factor, Duration, link::Link, Peers>;
  Edit(Selector selector, What what) : selector_(std::move(selector)), what_(what) {}

  Selector selector_;
  What what_;
};

}  // namespace prism::analysis
