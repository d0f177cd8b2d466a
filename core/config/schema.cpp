// SPDX-License-Identifier: Apache-2.0
#include "core/config/schema.hpp"

#include <algorithm>

#include "core/config/tensor_names.hpp"

namespace prism::config {
namespace {

using enum OptionType;

constexpr int64_t kMillisecond = 1'000'000;
constexpr int64_t kHour = 3'600'000'000'000;

constexpr Option kExperiment[] = {
    {.name = "name",
     .type = String,
     .required = true,
     .doc =
         "Names the experiment in reports and its run directory: letters, digits, '.', '_', '-'."},
    {.name = "run_dir",
     .type = Path,
     .doc = "Where the results go, relative to this file. Default: runs/ and the name."},
    {.name = "seed",
     .type = Int,
     .default_text = "1",
     .min = 0,
     .doc = "Seed of everything that Prism draws."},
};

constexpr Option kJob[] = {
    {.name = "script",
     .type = Path,
     .required = true,
     .doc = "The training program, relative to this file."},
    {.name = "args",
     .type = StringList,
     .default_text = "[]",
     .doc = "Its arguments; {world_size} and {rank} are replaced, {{rank}} stands for {rank}."},
    {.name = "env",
     .type = StringTable,
     .default_text = "{}",
     .doc = "Environment variables, added to those that Prism runs with."},
    {.name = "inputs",
     .type = PathList,
     .default_text = "[]",
     .doc = "Data files whose change makes earlier results stale."},
    {.name = "cwd",
     .type = Path,
     .doc = "Folder in which the program runs. Default: the folder of this file."},
};

constexpr Option kParallel[] = {
    {.name = "world_size",
     .type = Int,
     .required = true,
     .min = 1,
     .max = kMaxWorldSize,
     .doc = "Number of ranks that the program believes in."},
    {.name = "sandbox",
     .type = IntList,
     .default_text = "[]",
     .min = 0,
     .doc = "Ranks that run the program for real in an emulation."},
    {.name = "classes",
     .type = StringOrList,
     .default_text = "\"all\"",
     .doc = "Which ranks run alike: \"all\", \"none\", a list such as [\"0-7\", \"8-15\"], or an "
            "expression such as \"rank // 8\"."},
    {.name = "check_replicas",
     .type = Int,
     .default_text = "1",
     .min = 0,
     .max = kMaxWorldSize,
     .doc = "How many more members of each class run, to prove that the class is one."},
};

constexpr Option kPlugins[] = {
    {.name = "runtime",
     .type = String,
     .default_text = "\"torch\"",
     .doc = "How a rank's program is started and intercepted."},
    {.name = "launcher",
     .type = String,
     .default_text = "\"local\"",
     .doc = "What starts processes."},
    {.name = "router",
     .type = String,
     .doc = "What assigns tokens to experts, where a hook in the rank asks for it."},
    {.name = "adapter", .type = String, .doc = "What knows the job's parallel layout."},
    {.name = "path",
     .type = StringTable,
     .default_text = "{}",
     .doc = "Folders of plugins that are not where Prism looks, by id."},
};

constexpr Option kCollect[] = {
    {.name = "slots",
     .type = Int,
     .default_text = "0",
     .min = 0,
     .max = 65'536,
     .doc = "How many ranks run at a time; 0: one per usable core."},
    {.name = "timeout",
     .type = Duration,
     .default_text = "\"10 min\"",
     .min = kMillisecond,
     .doc = "The longest time that a rank may be silent."},
};

constexpr auto kOperationNames = names_of(kReceivingOperations);
constexpr auto kElementTypeNames = names_of(kElementTypes);

constexpr Option kCollectRuleMatch[] = {
    {.name = "op",
     .type = String,
     .choices = kOperationNames,
     .doc = "The operation, e.g. \"recv\"."},
    {.name = "group", .type = String, .doc = "Description of the communicator."},
    {.name = "dtype",
     .type = String,
     .choices = kElementTypeNames,
     .doc = "Type of the elements, as torch or the plugin ABI names it: \"int64\", \"i64\"."},
    {.name = "ranks",
     .type = RankList,
     .min = 0,
     .doc = "Ranks that get the tensor: \"0-7,9\" or [0, 1]."},
    {.name = "shape",
     .type = IntList,
     .min = -1,
     .doc = "Shape of the tensor, of all-gather, gather and all-to-all that of one peer's part; -1 "
            "stands for any extent."},
    {.name = "call",
     .type = Int,
     .min = 0,
     .doc = "The n-th communication of its kind on its communicator, from 0."},
};

constexpr Option kCollectRuleSource[] = {
    {.name = "id",
     .type = String,
     .required = true,
     .doc = "Id of the tensor source; further keys are its options."},
};

constexpr Option kLink[] = {
    {.name = "latency",
     .type = Duration,
     .required = true,
     .min = 0,
     .max = kHour,
     .doc = "From the sender to the receiver, for a message of no size."},
    {.name = "bandwidth",
     .type = Bandwidth,
     .required = true,
     .min = 1,
     .doc = "In one direction."},
    {.name = "per_message",
     .type = Duration,
     .default_text = "\"0 ns\"",
     .min = 0,
     .max = kHour,
     .doc = "Time that every message keeps the link busy besides its bytes."},
    {.name = "reduce_bandwidth",
     .type = Bandwidth,
     .min = 1,
     .doc = "How fast a rank combines what it received with its own data."},
    {.name = "copy_bandwidth",
     .type = Bandwidth,
     .min = 1,
     .doc = "How fast a rank copies to fresh memory, which torch does around some collectives."},
};

constexpr Option kLinkMatch[] = {
    {.name = "backend", .type = String, .doc = "Backend of the communicator, e.g. \"nccl\"."},
    {.name = "description", .type = String, .doc = "Description of the communicator."},
};

constexpr Option kTime[] = {
    {.name = "repeats",
     .type = Int,
     .default_text = "2",
     .min = 1,
     .max = 1'000'000,
     .doc = "How often each executed member runs."},
    {.name = "warmup_iterations",
     .type = Int,
     .default_text = "3",
     .min = 0,
     .max = 1'000'000,
     .doc = "Iterations at the start of a run that are not counted."},
};

constexpr Option kPredict[] = {
    {.name = "compute_scale",
     .type = Float,
     .default_text = "1.0",
     .doc = "Factor on the duration of every compute span, above 0."},
};

constexpr Option kVerify[] = {
    {.name = "args",
     .type = StringList,
     .doc = "Arguments of the program at this number of ranks, in place of those of [job]."},
    {.name = "env",
     .type = StringTable,
     .default_text = "{}",
     .doc = "Environment variables, added to those of [job]."},
};

constexpr Option kReport[] = {
    {.name = "timeline_ranks",
     .type = Int,
     .default_text = "16",
     .min = 0,
     .max = 64,
     .doc = "How many ranks the timeline shows at most."},
};

constexpr TableSchema kTables[] = {
    {"experiment", kExperiment, "The experiment as a whole."},
    {"job", kJob, "The program that is run."},
    {"parallel", kParallel, "The ranks and which of them are alike."},
    {"plugins", kPlugins, "Which plugins are used."},
    {"collect", kCollect, "How ranks are recorded."},
    {"collect.rule.match", kCollectRuleMatch,
     "Of a [[collect.rule]]: which tensors it is for; the first rule that matches is taken."},
    {"collect.rule.source", kCollectRuleSource,
     "Of a [[collect.rule]]: what stands in for what absent peers would have sent."},
    {"link.NAME", kLink, "The network; [link.default] is used where no other one matches."},
    {"link.NAME.match", kLinkMatch, "Which communicators use this link."},
    {"time", kTime, "How durations are measured."},
    {"predict", kPredict, "What-ifs of the prediction."},
    {"verify.N", kVerify, "How the job shrinks to N ranks for a comparison with a real run."},
    {"report", kReport, "What the report shows."},
};

}  // namespace

std::span<const TableSchema> experiment_schema() {
  return kTables;
}

std::span<const Option> schema_rows(std::string_view table) {
  auto found = std::find_if(std::begin(kTables), std::end(kTables),
                            [&](const TableSchema& schema) { return schema.name == table; });
  PRISM_ASSERT(found != std::end(kTables));
  return found->options;
}

}  // namespace prism::config
