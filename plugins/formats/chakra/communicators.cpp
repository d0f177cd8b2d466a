// SPDX-License-Identifier: Apache-2.0
#include "plugins/formats/chakra/communicators.hpp"

#include <algorithm>

#include "prism/sdk/error.hpp"

namespace prism::chakra {
namespace {

constexpr std::string_view kAllRanks = "0";  // what ASTRA-sim takes this name for
constexpr const char* kBackend = "nccl";

Communicators::Known tell(const Group& group, sdk::TraceSink& sink) {
  Communicators::Known known;
  known.name = group.name;
  known.size = static_cast<uint32_t>(group.ranks.size());
  known.position_of.reserve(group.ranks.size());
  for (const uint32_t member : group.ranks) {
    known.position_of.try_emplace(member, static_cast<int32_t>(known.position_of.size()));
  }
  known.index = sink.add_communicator({group.name, group.description, group.backend, group.ranks});
  return known;
}

}  // namespace

Communicators::Communicators(const RankTrace& trace, const std::vector<Group>& more, uint32_t rank,
                             const std::vector<uint32_t>& world, sdk::TraceSink& sink)
    : trace_(trace), rank_(rank), world_(world), sink_(sink) {
  for (const std::vector<Group>* groups : {&trace.groups, &more}) {
    for (const Group& group : *groups) {
      add(group);
    }
  }
}

void Communicators::add(const Group& group) {
  if (known_.contains(group.name) || others_.contains(group.name)) {
    return;  // said again
  }
  if (group.ranks.empty()) {
    known_.emplace(group.name, tell({group.name, group.description, group.backend, world_}, sink_));
  } else if (std::find(group.ranks.begin(), group.ranks.end(), rank_) == group.ranks.end()) {
    others_.emplace(group.name, static_cast<uint32_t>(group.ranks.size()));
  } else {
    known_.emplace(group.name, tell(group, sink_));
  }
}

const Communicators::Known& Communicators::all_ranks() {
  if (all_.size == 0) {
    all_ = tell({"all ranks", "", kBackend, world_}, sink_);
  }
  return all_;
}

const Communicators::Known& Communicators::find(const Node& node, uint32_t group) {
  const std::string_view name = group == kNone ? kAllRanks : std::string_view(trace_.texts[group]);
  if (const auto known = known_.find(name); known != known_.end()) {
    return known->second;
  }
  if (others_.contains(name)) {
    throw sdk::Error(PRISM_STATUS_INVALID_ARGUMENT,
                     trace_.place(node) + " is of the process group '" + std::string(name) +
                         "', which rank " + std::to_string(rank_) +
                         " is not in; is it the trace of another rank?");
  }
  if (name == kAllRanks) {
    return all_ranks();
  }
  throw sdk::Error(PRISM_STATUS_INVALID_ARGUMENT,
                   trace_.place(node) + " is of the process group '" + std::string(name) +
                       "', whose ranks the trace does not tell; give ASTRA-sim's file of groups "
                       "({\"" +
                       std::string(name) + "\": [0, 1, ...]}) with --option groups=FILE");
}

}  // namespace prism::chakra
