// SPDX-License-Identifier: Apache-2.0
#include "plugins/formats/chakra/counts.hpp"

#include <string>

namespace prism::chakra {

void tell(const Counts& counts, sdk::TraceSink& sink) {
  const struct {
    uint64_t count;
    const char* text;
  } notes[] = {
      {counts.without_times,
       "files tell no start times: their nodes start as early as dependencies and lanes allow"},
      {counts.without_caller,
       "control dependencies (ctrl_deps) are left out: the nodes are not in the file, or are the "
       "same"},
      {counts.against_order,
       "control dependencies (ctrl_deps) are left out: they go in circles, or against data "
       "dependencies (data_deps)"},
      {counts.contradicting,
       "dependencies are left out: a node begins before what it depends on has ended"},
      {counts.overlapping, "nodes overlap others of their kind: they are on further lanes"},
      {counts.memory, "nodes load or store memory: taken as computations"},
      {counts.invalid, "nodes have no type (INVALID_NODE): taken as computations"},
      {counts.without_peer,
       "sends and receives do not say with whom (comm_src, comm_dst): taken as computations"},
      {counts.without_size, "communications do not say their size (comm_size): taken as 0 bytes"},
      {counts.without_root,
       "collectives have a root that Chakra does not tell: the first rank of the group is taken"},
      {counts.some_dimensions,
       "collectives are of some dimensions of a topology (involved_dim) that the trace does not "
       "tell: taken to be of all ranks of their group"},
      {counts.unreadable_groups, "lists of process groups cannot be read"},
  };
  for (const auto& note : notes) {
    if (note.count > 0) {
      sink.note(std::to_string(note.count) + " " + note.text);
    }
  }
}

}  // namespace prism::chakra
