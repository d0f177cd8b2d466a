// SPDX-License-Identifier: Apache-2.0
/// synthetic_trace [NAME=NUMBER...] [FILE]: makes a synthetic job, says what it is and how long an
/// iteration of it takes, and writes it to FILE as a PrismTrace in which one replica was measured
/// in some runs. NAME: tp, pp, dp, ep, chunks, micro_batches, layers, iterations, seed, jitter,
/// runs (default 5).
#include <charconv>
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "core/graph/check.hpp"
#include "core/graph/trace_file.hpp"
#include "core/replay/engine.hpp"
#include "tests/synthetic/job.hpp"

namespace {

using namespace prism;

template <typename Number>
bool parse(std::string_view text, Number& number) {
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stopped == end;
}

struct Wanted {
  synthetic::Spec spec;
  uint32_t runs = 5;
  std::string file;  ///< empty: none
};

Status set(Wanted& wanted, std::string_view argument) {
  synthetic::Spec& spec = wanted.spec;
  using Set = std::function<bool(std::string_view)>;
  const auto to = [](auto& number) -> Set {
    return [&number](std::string_view text) { return parse(text, number); };
  };
  const std::map<std::string_view, Set> names{{"tp", to(spec.tp)},
                                              {"pp", to(spec.pp)},
                                              {"dp", to(spec.dp)},
                                              {"ep", to(spec.ep)},
                                              {"chunks", to(spec.chunks)},
                                              {"micro_batches", to(spec.micro_batches)},
                                              {"layers", to(spec.layers_per_stage)},
                                              {"iterations", to(spec.iterations)},
                                              {"seed", to(spec.seed)},
                                              {"jitter", to(spec.jitter)},
                                              {"runs", to(wanted.runs)}};
  const size_t equals = argument.find('=');
  if (equals == std::string_view::npos && wanted.file.empty()) {
    wanted.file = argument;
    return {};
  }
  const auto name = names.find(argument.substr(0, equals));
  if (equals == std::string_view::npos || name == names.end() ||
      !name->second(argument.substr(equals + 1))) {
    return config_error("not NAME=NUMBER with a known name: " + std::string(argument));
  }
  return {};
}

Status run(const Wanted& wanted) {
  const synthetic::Spec& spec = wanted.spec;
  PRISM_TRY_ASSIGN(const graph::Job job, synthetic::make_job(spec));
  PRISM_TRY(graph::check(job));
  PRISM_TRY_ASSIGN(const replay::ReplayResult result,
                   replay::replay(job, synthetic::make_times(job, spec), {}));
  std::printf("%u ranks: tp %u, pp %u, dp %u, ep %u; %u micro-batches, %u chunks\n", job.world_size,
              spec.tp, spec.pp, spec.dp, spec.ep, spec.micro_batches, spec.chunks);
  std::printf("%llu nodes, %zu communicators\n", static_cast<unsigned long long>(result.nodes),
              job.communicators.size());
  for (const DurationNs time : result.iteration_time) {
    std::printf("iteration: %.3f ms (replayed)\n", static_cast<double>(time) / 1e6);
  }
  if (!wanted.file.empty()) {
    PRISM_TRY_ASSIGN(const graph::Trace trace, synthetic::make_trace(spec, wanted.runs));
    PRISM_TRY(graph::write_trace(wanted.file, trace));
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  Wanted wanted;
  Status status;
  for (int i = 1; i < argc && status.ok(); ++i) {
    status = set(wanted, argv[i]);
  }
  if (status.ok()) {
    status = run(wanted);
  }
  if (!status.ok()) {
    std::fprintf(stderr, "synthetic_trace: %s\n", status.to_string().c_str());
  }
  return status.exit_code();
}
