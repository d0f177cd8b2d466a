// SPDX-License-Identifier: Apache-2.0
/// Real PyTorch programs as logical ranks, alone, and what their agent says.
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <unistd.h>

#include "prism/abi/comm.h"
#include "prism/abi/status.h"
#include "tests/integration/agent/lone_rank.hpp"

namespace prism::test {
namespace {

class Agent : public testing::Test {
 protected:
  void SetUp() override {
    if (!why_not().empty()) {
      GTEST_SKIP() << why_not();
    }
  }
};

/// The run came to its end by itself and said so.
void expect_returned(const RankRun& run) {
  ASSERT_EQ(run.exit_code, 0) << run.describe();
  const auto byes = run.all<wire::Bye>();
  ASSERT_EQ(byes.size(), 1U) << run.describe();
  EXPECT_EQ(byes[0].reason, wire::kByeReturned) << byes[0].detail;
  EXPECT_TRUE(std::holds_alternative<wire::Bye>(run.frames.back().message));
}

std::vector<uint8_t> marks(const RankRun& run) {
  std::vector<uint8_t> kinds;
  for (const wire::Mark& mark : run.all<wire::Mark>()) {
    kinds.push_back(mark.kind);
  }
  return kinds;
}

/// Clocks never run backwards in a thread, and cost is part of the time that has passed.
void expect_clocks_in_order(const RankRun& run) {
  std::map<uint32_t, wire::Clocks> last;
  for (const wire::Frame& frame : run.frames) {
    std::visit(
        [&](const auto& message) {
          if constexpr (requires { message.clocks; }) {
            const wire::Clocks& now = message.clocks;
            if (const auto before = last.find(now.thread); before != last.end()) {
              const wire::Clocks& then = before->second;
              EXPECT_LE(then.cost_mono_ns, now.cost_mono_ns);
              EXPECT_LE(then.cost_cpu_ns, now.cost_cpu_ns);
              EXPECT_LE(now.cost_mono_ns - then.cost_mono_ns, now.mono_ns - then.mono_ns);
              EXPECT_LE(now.cost_cpu_ns - then.cost_cpu_ns, now.cpu_ns - then.cpu_ns);
            }
            last[now.thread] = now;
          }
        },
        frame.message);
  }
}

/// Every OP has one DONE after it, and nothing else is done.
void expect_all_done(const RankRun& run) {
  std::set<uint64_t> open;
  for (const wire::Frame& frame : run.frames) {
    if (const auto* op = std::get_if<wire::Op>(&frame.message)) {
      EXPECT_TRUE(open.insert(op->id).second);
    } else if (const auto* done = std::get_if<wire::Done>(&frame.message)) {
      EXPECT_TRUE(done->op == 0 || open.erase(done->op) == 1) << done->op;
    }
  }
  EXPECT_TRUE(open.empty());
}

class FullyShard : public Agent,
                   public testing::WithParamInterface<std::pair<uint32_t, uint32_t>> {};

TEST_P(FullyShard, TrainsAlone) {
  const auto [rank, world_size] = GetParam();
  const RankRun run = run_rank({.script = "fsdp2.py", .rank = rank, .world_size = world_size});
  expect_returned(run);

  const auto hello = run.all<wire::Hello>();
  ASSERT_EQ(hello.size(), 1U);
  EXPECT_EQ(hello[0].rank, rank);
  EXPECT_EQ(hello[0].world_size, world_size);
  EXPECT_TRUE(hello[0].framework.starts_with("torch 2.")) << hello[0].framework;

  const auto groups = run.all<wire::Group>();
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups[0].member, 1);
  EXPECT_EQ(groups[0].backend, "gloo");
  EXPECT_EQ(groups[0].description, "default_pg");
  ASSERT_EQ(groups[0].ranks.size(), world_size);
  EXPECT_EQ(groups[0].ranks[rank], rank);

  // Forward and backward gather each of two layers, backward scatters both, clipping reduces.
  const auto ops = run.all<wire::Op>();
  ASSERT_EQ(ops.size(), 3U * 7U);
  const uint64_t shard = 1024U * 1025U * 4U / world_size;
  for (size_t i = 0; i < ops.size(); ++i) {
    const uint8_t kind = i % 7 < 4   ? PRISM_COMM_ALL_GATHER
                         : i % 7 < 6 ? PRISM_COMM_REDUCE_SCATTER
                                     : PRISM_COMM_ALL_REDUCE;
    EXPECT_EQ(ops[i].kind, kind) << i;
    EXPECT_EQ(ops[i].id, i + 1);
    EXPECT_EQ(ops[i].sequence, i);
    if (kind == PRISM_COMM_ALL_GATHER) {
      EXPECT_EQ(ops[i].input_bytes, shard);
      EXPECT_EQ(ops[i].output_bytes, shard * world_size);
    }
  }
  using wire::kMarkForward, wire::kMarkOptimizerBegin, wire::kMarkOptimizerEnd;
  EXPECT_EQ(marks(run),
            (std::vector<uint8_t>{kMarkForward, kMarkOptimizerBegin, kMarkOptimizerEnd,
                                  kMarkForward, kMarkOptimizerBegin, kMarkOptimizerEnd,
                                  kMarkForward, kMarkOptimizerBegin, kMarkOptimizerEnd}));
}

INSTANTIATE_TEST_SUITE_P(Ranks, FullyShard,
                         testing::Values(std::pair(5U, 64U), std::pair(1023U, 1024U)));

TEST_F(Agent, DistributedDataParallelKeepsParametersAndTrains) {
  const RankRun run = run_rank({.script = "ddp.py", .rank = 5, .world_size = 64});
  expect_returned(run);
  EXPECT_EQ(run.made_up(wire::kMadeUpFill), 0U) << "broadcast parameters were to be kept";
  const auto waits = run.all<wire::Wait>();
  EXPECT_TRUE(std::any_of(waits.begin(), waits.end(), [](const wire::Wait& w) {
    return w.via == wire::kWaitFuture;
  })) << "the reducer takes futures";
}

TEST_F(Agent, CompiledCodeStaysWholeAndIsMarked) {
  const RankRun run = run_rank({.script = "compiled.py", .rank = 1, .world_size = 4});
  expect_returned(run);
  EXPECT_EQ(run.out, "all as expected\n");
  EXPECT_EQ(run.err, "");
  EXPECT_EQ(run.all<wire::Op>().size(), 3U);
  const std::vector<uint8_t> kinds = marks(run);
  ASSERT_EQ(kinds.size(), 18U);
  for (size_t i = 0; i < kinds.size(); ++i) {
    EXPECT_EQ(kinds[i], i % 3 + 1) << i;
  }
}

struct Placed {
  const char* script;
  uint32_t rank;
  uint32_t world_size;
};

/// Scripts that assert themselves what arrives.
class Script : public Agent, public testing::WithParamInterface<Placed> {};

TEST_P(Script, GetsWhatItExpects) {
  const auto [script, rank, world_size] = GetParam();
  const RankRun run = run_rank({.script = script, .rank = rank, .world_size = world_size});
  expect_returned(run);
  EXPECT_EQ(run.out, "all as expected\n");
  expect_all_done(run);
  expect_clocks_in_order(run);
  if (world_size == 1) {
    EXPECT_EQ(run.made_up(wire::kMadeUpEcho), 0U) << "alone, all values are honest";
    // The one all-to-all that sends nothing and gets two rows is no honest program.
    EXPECT_LE(run.made_up(wire::kMadeUpFill), 24U);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Script,
                         testing::Values(Placed{"collectives.py", 2, 4},
                                         Placed{"collectives.py", 0, 1},
                                         Placed{"collectives.py", 6, 7}, Placed{"objects.py", 2, 4},
                                         Placed{"objects.py", 0, 1}, Placed{"groups.py", 5, 16},
                                         Placed{"children.py", 1, 4}));

class Meeting : public Agent, public testing::WithParamInterface<const char*> {};

TEST_P(Meeting, NeverWaits) {
  const RankRun run = run_rank({.script = "stores.py",
                                .rank = 2,
                                .world_size = 4,
                                .args = {GetParam()},
                                .env = {{"TORCH_DIST_INIT_BARRIER", "1"}}});
  expect_returned(run);
  EXPECT_EQ(run.out, "all as expected\n");
  size_t store = 0;
  for (const wire::Done& done : run.all<wire::Done>()) {
    store +=
        done.op == 0 && done.made_up.size() == 1 && done.made_up[0].source == wire::kMadeUpStore;
  }
  EXPECT_EQ(store, 3U) << "one get and two waits for keys that no rank has set";
}

INSTANTIATE_TEST_SUITE_P(Ways, Meeting,
                         testing::Values("env", "tcp", "file", "tcp_store", "file_store",
                                         "default"));

TEST_F(Agent, TellsWhatEachOperationMoves) {
  const RankRun run = run_rank({.script = "told.py", .rank = 1, .world_size = 4});
  expect_returned(run);
  const auto groups = run.all<wire::Group>();
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_EQ(groups[1].ranks, (std::vector<uint32_t>{1, 3}));
  EXPECT_EQ(groups[1].description, "odd");
  EXPECT_EQ(groups[1].id, 1U);
  EXPECT_EQ(groups[2].member, 0);
  EXPECT_EQ(groups[2].ranks, (std::vector<uint32_t>{0, 2}));

  std::vector<wire::Op> ops = run.all<wire::Op>();
  for (wire::Op& op : ops) {
    op.clocks = {};
  }
  using wire::Op, wire::kOpAsync, wire::kOpCoalesced;
  const uint8_t both = kOpAsync | kOpCoalesced;
  const std::vector<Op> expected{
      {.id = 1,
       .kind = PRISM_COMM_ALL_REDUCE,
       .reduction = PRISM_REDUCE_MAX,
       .dtype = PRISM_DTYPE_BF16,
       .input_bytes = 20,
       .output_bytes = 20},
      {.id = 2,
       .sequence = 1,
       .kind = PRISM_COMM_BROADCAST,
       .dtype = PRISM_DTYPE_I64,
       .peer = 3,
       .output_bytes = 16},
      {.id = 3,
       .sequence = 2,
       .kind = PRISM_COMM_BROADCAST,
       .dtype = PRISM_DTYPE_I64,
       .peer = 1,
       .input_bytes = 16},
      {.id = 4,
       .group = 1,
       .kind = PRISM_COMM_REDUCE,
       .reduction = PRISM_REDUCE_SUM,
       .dtype = PRISM_DTYPE_F64,
       .flags = kOpAsync,
       .peer = 1,
       .input_bytes = 24},
      {.id = 5,
       .sequence = 3,
       .kind = PRISM_COMM_ALL_TO_ALL,
       .dtype = PRISM_DTYPE_F32,
       .input_bytes = 40,
       .output_bytes = 32,
       .send_bytes = {4, 8, 12, 16},
       .recv_bytes = {8, 8, 8, 8}},
      {.id = 6,
       .kind = PRISM_COMM_SEND,
       .dtype = PRISM_DTYPE_U8,
       .flags = kOpAsync,
       .peer = 2,
       .tag = 5,
       .input_bytes = 3},
      {.id = 7,
       .kind = PRISM_COMM_RECV,
       .dtype = PRISM_DTYPE_U8,
       .flags = kOpAsync,
       .peer = wire::kAnySource,
       .output_bytes = 3},
      {.id = 8,
       .sequence = 4,
       .batch = 1,
       .kind = PRISM_COMM_ALL_REDUCE,
       .reduction = PRISM_REDUCE_SUM,
       .dtype = PRISM_DTYPE_F32,
       .flags = kOpCoalesced,
       .input_bytes = 4,
       .output_bytes = 4},
      {.id = 9,
       .batch = 1,
       .kind = PRISM_COMM_SEND,
       .dtype = PRISM_DTYPE_F32,
       .flags = both,
       .peer = 0,
       .input_bytes = 4},
      {.id = 10,
       .sequence = 5,
       .kind = PRISM_COMM_ALL_GATHER,
       .dtype = PRISM_DTYPE_OTHER,
       .flags = kOpAsync,
       .input_bytes = 24,
       .output_bytes = 96},
      {.id = 11,
       .sequence = 6,
       .kind = PRISM_COMM_GATHER,
       .dtype = PRISM_DTYPE_BOOL,
       .peer = 1,
       .input_bytes = 2,
       .output_bytes = 8},
      {.id = 12,
       .sequence = 7,
       .kind = PRISM_COMM_SCATTER,
       .dtype = PRISM_DTYPE_F32,
       .peer = 0,
       .output_bytes = 8},
      {.id = 13,
       .sequence = 8,
       .kind = PRISM_COMM_REDUCE_SCATTER,
       .reduction = PRISM_REDUCE_SUM,
       .dtype = PRISM_DTYPE_F16,
       .input_bytes = 8,
       .output_bytes = 2},
      {.id = 14, .sequence = 9, .kind = PRISM_COMM_BARRIER},
  };
  ASSERT_EQ(ops.size(), expected.size());
  for (size_t i = 0; i < ops.size(); ++i) {
    EXPECT_TRUE(ops[i] == expected[i])
        << "operation " << i + 1 << " kind " << int{ops[i].kind} << " flags " << int{ops[i].flags}
        << " sequence " << ops[i].sequence << " in " << ops[i].input_bytes << " out "
        << ops[i].output_bytes;
  }

  std::vector<std::pair<uint64_t, int>> waits;
  for (const wire::Wait& wait : run.all<wire::Wait>()) {
    waits.emplace_back(wait.op, wait.via);
  }
  EXPECT_EQ(waits, (std::vector<std::pair<uint64_t, int>>{{4, wire::kWaitWork},
                                                          {6, wire::kWaitWork},
                                                          {7, wire::kWaitWork},
                                                          {9, wire::kWaitWork},
                                                          {10, wire::kWaitFuture}}));

  std::map<uint64_t, std::vector<wire::MadeUp>> made_up;
  for (const wire::Done& done : run.all<wire::Done>()) {
    made_up[done.op] = done.made_up;
  }
  // torch itself scatters complex numbers as pairs of real ones (operation 12).
  using Parts = std::vector<wire::MadeUp>;
  const auto echo = [](uint64_t bytes) { return Parts{{wire::kMadeUpEcho, bytes}}; };
  const auto fill = [](uint64_t bytes) { return Parts{{wire::kMadeUpFill, bytes}}; };
  EXPECT_TRUE(made_up[1] == echo(20));
  EXPECT_TRUE(made_up[2] == fill(16));
  EXPECT_TRUE(made_up[3] == Parts{});
  EXPECT_TRUE(made_up[4] == Parts{}) << "a reduce has no output where this rank is not the root";
  EXPECT_TRUE(made_up[5] == echo(24)) << "three of four chunks come from peers";
  EXPECT_TRUE(made_up[6] == Parts{});
  EXPECT_TRUE(made_up[7] == fill(3));
  EXPECT_TRUE(made_up[10] == echo(72));
  EXPECT_TRUE(made_up[11] == echo(6));
  EXPECT_TRUE(made_up[12] == fill(8));
  EXPECT_TRUE(made_up[13] == echo(2));
  EXPECT_TRUE(made_up[14] == Parts{});
}

struct Ending {
  const char* how;
  uint8_t reason;  ///< 0: no BYE
  int exit_code;
  int signal = 0;
  const char* detail = "";
  bool says_hello = true;
};

class Ends : public Agent, public testing::WithParamInterface<Ending> {};

TEST_P(Ends, AsThePlainScriptWouldAndSaysSo) {
  const Ending& ending = GetParam();
  const RankRun run =
      run_rank({.script = "ending.py", .rank = 3, .world_size = 8, .args = {ending.how}});
  EXPECT_EQ(run.signal, ending.signal) << run.describe();
  if (ending.signal == 0) {
    EXPECT_EQ(run.exit_code, ending.exit_code) << run.describe();
  }
  EXPECT_EQ(run.all<wire::Hello>().size(), ending.says_hello ? 1U : 0U);
  const auto byes = run.all<wire::Bye>();
  ASSERT_EQ(byes.size(), ending.reason == 0 ? 0U : 1U) << run.describe();
  if (ending.reason != 0) {
    EXPECT_EQ(byes[0].reason, ending.reason);
    EXPECT_EQ(byes[0].exit_code, ending.exit_code);
    EXPECT_NE(byes[0].detail.find(ending.detail), std::string::npos) << byes[0].detail;
    const std::string folder = PRISM_SOURCE_DIR "/tests/integration/agent/scripts/";
    EXPECT_EQ(byes[0].files,
              (std::vector<std::string>{folder + "ending.py", folder + "helper_module.py"}));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Ways, Ends,
    testing::Values(
        Ending{"return", wire::kByeReturned, 0}, Ending{"never_init", wire::kByeReturned, 0},
        Ending{"caught", wire::kByeReturned, 0}, Ending{"thread_exit", wire::kByeReturned, 0},
        Ending{"raise_before_torch", 0, 1, 0, "", false},
        Ending{"raise_before_init", wire::kByeException, 1, 0, "ValueError: before init"},
        Ending{"raise", wire::kByeException, 1, 0, "ValueError: im Übrigen"},
        Ending{"raise_own_hook", wire::kByeException, 1, 0, "ValueError: seen by my hook"},
        Ending{"exit_0", wire::kByeSystemExit, 0}, Ending{"exit_3", wire::kByeSystemExit, 3},
        Ending{"exit_text", wire::kByeSystemExit, 1, 0, "a reason"},
        Ending{"raise_system_exit_4", wire::kByeSystemExit, 4}, Ending{"os_exit_5", 0, 5},
        Ending{"kill", 0, 0, SIGKILL},
        Ending{"wrong_rank", wire::kByeException, 1, 0,
               "told rank 0 of 2, but this process is "
               "logical rank 3 of 8"},
        Ending{"direct", wire::kByeException, 1, 0, "constructed directly"},
        Ending{"rpc", wire::kByeException, 1, 0, "does not intercept torch.distributed.rpc"}),
    [](const auto& ending) { return std::string(ending.param.how); });

TEST_F(Agent, TwoThreadsSpeakInTurn) {
  const RankRun run = run_rank({.script = "threads.py", .rank = 1, .world_size = 8});
  expect_returned(run);
  expect_all_done(run);
  expect_clocks_in_order(run);
  std::map<uint32_t, std::set<uint32_t>> threads_of_group;
  std::map<uint32_t, uint64_t> next;
  for (const wire::Op& op : run.all<wire::Op>()) {
    threads_of_group[op.group].insert(op.clocks.thread);
    EXPECT_EQ(op.sequence, next[op.group]++);
  }
  ASSERT_EQ(threads_of_group.size(), 2U);
  std::set<uint32_t> threads;
  for (const auto& [group, numbers] : threads_of_group) {
    EXPECT_EQ(numbers.size(), 1U);
    threads.insert(numbers.begin(), numbers.end());
  }
  EXPECT_EQ(threads, (std::set<uint32_t>{1, 2}));
  EXPECT_EQ(run.all<wire::Wait>().size(), 400U);
}

TEST_F(Agent, StackSignalShowsAllThreadsOfAHangingRank) {
  RankSetup setup{.script = "hang.py", .rank = 1, .world_size = 8};
  setup.quiet = std::chrono::milliseconds(2000);
  setup.on_quiet = [](int pid) {
    ::kill(pid, stack_signal());
    ::usleep(500'000);
    ::kill(pid, SIGTERM);
  };
  const RankRun run = run_rank(setup);
  EXPECT_EQ(run.exit_code, 0) << run.describe();
  EXPECT_NE(run.err.find("standing_still"), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("standing_in_a_thread"), std::string::npos) << run.err;
}

TEST_F(Agent, GoesOnAfterABlock) {
  RankSetup setup{.script = "told.py", .rank = 1, .world_size = 4};
  setup.decide = [](const wire::Frame&) {
    return wire::Verdict{.decision = wire::Decision::Block};
  };
  const RankRun run = run_rank(setup);
  expect_returned(run);
  EXPECT_EQ(run.all<wire::Op>().size(), 14U);
}

TEST_F(Agent, EndsWhenTheCoordinatorAborts) {
  RankSetup setup{.script = "told.py", .rank = 1, .world_size = 4};
  setup.decide = [](const wire::Frame& frame) {
    const auto* op = std::get_if<wire::Op>(&frame.message);
    return op != nullptr && op->id == 3
               ? wire::Verdict{.decision = wire::Decision::Abort, .reason = "ranks differ"}
               : wire::Verdict{};
  };
  const RankRun run = run_rank(setup);
  EXPECT_EQ(run.exit_code, 1) << run.describe();
  EXPECT_NE(run.err.find("ranks differ"), std::string::npos) << run.err;
  EXPECT_EQ(run.all<wire::Op>().size(), 3U);
  EXPECT_TRUE(run.all<wire::Bye>().empty());
}

TEST_F(Agent, EndsQuietlyWhenTheCoordinatorIsGone) {
  RankSetup setup{.script = "told.py", .rank = 1, .world_size = 4};
  setup.hang_up_at_op = 3;
  const RankRun run = run_rank(setup);
  EXPECT_EQ(run.exit_code, 1) << run.describe();
  EXPECT_EQ(run.err, "");
}

TEST_F(Agent, AHookThatFailsEndsTheProcess) {
  const RankRun run = run_rank({.script = "ending.py",
                                .rank = 3,
                                .world_size = 8,
                                .args = {"return"},
                                .override_env = {{"PRISM_AGENT_LIB", "/nowhere/libother.so"}}});
  EXPECT_EQ(run.exit_code, 70) << run.describe();
  EXPECT_TRUE(run.frames.empty());
  EXPECT_NE(run.err.find("the agent could not be put into this program"), std::string::npos);
  EXPECT_NE(run.err.find("libprism_agent_torch"), std::string::npos);
}

TEST_F(Agent, FillsAreTheSameInTwoRunsAndDifferByRankAndSeed) {
  const RankRun first = run_rank({.script = "print_fill.py", .rank = 1, .world_size = 4});
  const RankRun again = run_rank({.script = "print_fill.py", .rank = 1, .world_size = 4});
  const RankRun rank = run_rank({.script = "print_fill.py", .rank = 2, .world_size = 4});
  const RankRun seed = run_rank({.script = "print_fill.py", .rank = 1, .world_size = 4, .seed = 2});
  expect_returned(first);
  EXPECT_EQ(first.out, again.out);
  EXPECT_NE(first.out, rank.out);
  EXPECT_NE(first.out, seed.out);
}

// The checks before a run

/// A program that answers like a Python with such a torch.
std::string fake_python(const std::string& name, const std::string& body) {
  const std::string path = testing::TempDir() + "prism_agent_test_" + name;
  std::ofstream(path) << "#!/bin/sh\n" << body << "\n";
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path;
}

const std::vector<std::string> kEnv{"PATH=/usr/bin:/bin"};

TEST_F(Agent, ProbeTellsTheVersions) {
  const Probe found = probe(test_python(), kEnv);
  EXPECT_EQ(found.status, PRISM_STATUS_OK) << found.error;
  EXPECT_EQ(found.lines.rfind("python=3.", 0), 0U) << found.lines;
  EXPECT_NE(found.lines.find("\ntorch=2."), std::string::npos) << found.lines;
  EXPECT_NE(found.lines.find("\nagent="), std::string::npos) << found.lines;
}

struct BadPython {
  std::string python;
  std::vector<std::string> parts;  ///< of the message
};

TEST_F(Agent, ProbeSaysWhatIsMissingAndWhatToDo) {
  const std::vector<BadPython> cases{
      {fake_python("old", "echo 3.11.2; echo 2.6.0+cpu"),
       {"has torch 2.6.0+cpu", "an agent for torch 2.", "option 'python'", "PRISM_TORCH_ROOT"}},
      {fake_python("without", "echo 3.12.1; echo"),
       {"(Python 3.12.1) has no torch", "install torch 2.", "option 'python'"}},
      {fake_python("broken", "echo something broke >&2; exit 3"),
       {"is no Python that works", "something broke"}},
      {fake_python("silent", "exit 0"), {"is no Python that works", "nothing"}},
      {"no_such_python", {"no program 'no_such_python'", "/usr/bin:/bin", "option 'python'"}},
      {"/no/such/python", {"no program '/no/such/python'", "option 'python'"}},
  };
  for (const BadPython& bad : cases) {
    const Probe found = probe(bad.python, kEnv);
    EXPECT_EQ(found.status, PRISM_STATUS_FAILED_PRECONDITION) << bad.python;
    for (const std::string& part : bad.parts) {
      EXPECT_NE(found.error.find(part), std::string::npos) << part << "\nin: " << found.error;
    }
  }
}

TEST_F(Agent, ProbeLooksUpTheJobsPath) {
  const std::string path = fake_python("in_path", "echo 3.11.2; echo 1.0.0");
  const std::string name = std::filesystem::path(path).filename();
  const Probe found = probe(name, {"PATH=/usr/bin:" + testing::TempDir()});
  EXPECT_NE(found.error.find(path), std::string::npos) << found.error;
}

TEST_F(Agent, ProbeWithoutAnyAgentSaysSo) {
  const std::string folder = testing::TempDir() + "prism_agent_test_bare";
  std::filesystem::create_directories(folder);
  std::filesystem::copy_file(PRISM_BINARY_DIR "/lib/prism/plugins/abi-1/torch/libprism_torch.so",
                             folder + "/libprism_torch.so",
                             std::filesystem::copy_options::overwrite_existing);
  const Probe found = probe(test_python(), kEnv, folder);
  EXPECT_EQ(found.status, PRISM_STATUS_FAILED_PRECONDITION);
  EXPECT_NE(found.error.find("an agent for no version of torch"), std::string::npos) << found.error;
}

}  // namespace
}  // namespace prism::test
