// SPDX-License-Identifier: Apache-2.0
#include "core/calibrate/period.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <vector>

namespace prism::calibrate {
namespace {

/// A communication as it comes again in each iteration.
using Step = std::tuple<graph::Kind, uint32_t, uint8_t, uint64_t, uint64_t>;

struct Sequence {
  std::vector<uint32_t> nodes;
  std::vector<Step> steps;  ///< of those
};

Sequence communications_of(const graph::Program& program) {
  Sequence sequence;
  for (uint32_t id = 0; id < program.nodes.size(); ++id) {
    const graph::Node& node = program.nodes[id];
    const bool parts = graph::has_parts(node.kind);
    if (parts || graph::is_collective(node.kind)) {
      const uint32_t communicator =
          parts ? program.parts[node.first_part].communicator : node.communicator;
      sequence.nodes.push_back(id);
      sequence.steps.emplace_back(node.kind, communicator, node.dtype, node.input_bytes,
                                  node.output_bytes);
    }
  }
  return sequence;
}

/// No more iterations than each of the steps comes, and a divisor of how often.
size_t most_iterations(const Sequence& sequence) {
  std::map<Step, size_t> counts;
  for (const Step& step : sequence.steps) {
    ++counts[step];
  }
  size_t most = 0;
  for (const auto& [step, count] : counts) {
    most = std::gcd(most, count);
  }
  return most;
}

bool repeats(const Sequence& sequence, size_t iterations) {
  const size_t period = sequence.steps.size() / iterations;
  return sequence.steps.size() % iterations == 0 &&
         std::equal(sequence.steps.begin() + static_cast<std::ptrdiff_t>(period),
                    sequence.steps.end(), sequence.steps.begin());
}

/// The node after which the iteration that ends with the communication at `last` is over; the next
/// one has its first communication at `next`.
uint32_t last_of_iteration(const graph::Program& program, uint32_t last, uint32_t next) {
  for (uint32_t id = next; id-- > last + 1;) {
    const uint32_t phase = id < program.labels.size() ? program.labels[id].phase : graph::kNone;
    if (phase != graph::kNone && program.texts[phase] == "optimizer") {
      return id;
    }
  }
  return last;
}

void number_rank(graph::Program& program, const Sequence& sequence, size_t iterations) {
  const size_t period = sequence.nodes.size() / iterations;
  uint32_t id = 0;
  for (uint32_t iteration = 0; iteration < iterations; ++iteration) {
    const size_t end = (iteration + 1) * period;
    const uint32_t last =
        iteration + 1 == iterations
            ? static_cast<uint32_t>(program.nodes.size()) - 1
            : last_of_iteration(program, sequence.nodes[end - 1], sequence.nodes[end]);
    for (; id <= last; ++id) {
      program.nodes[id].iteration = iteration;
    }
  }
  program.iterations = static_cast<uint32_t>(iterations);
}

}  // namespace

uint32_t number_iterations_by_period(Observation& observation) {
  std::vector<Sequence> sequences;
  sequences.reserve(observation.ranks.size());
  size_t most = 0;
  for (const ObservedRank& rank : observation.ranks) {
    sequences.push_back(communications_of(rank.program));
    if (sequences.back().steps.empty()) {
      return 1;
    }
    most = std::gcd(most, most_iterations(sequences.back()));
  }
  for (size_t iterations = most; iterations > 1; --iterations) {
    const bool all = most % iterations == 0 &&
                     std::all_of(sequences.begin(), sequences.end(),
                                 [&](const Sequence& s) { return repeats(s, iterations); });
    if (all) {
      for (size_t r = 0; r < sequences.size(); ++r) {
        number_rank(observation.ranks[r].program, sequences[r], iterations);
      }
      return static_cast<uint32_t>(iterations);
    }
  }
  return 1;
}

}  // namespace prism::calibrate
