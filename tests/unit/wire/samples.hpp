// SPDX-License-Identifier: Apache-2.0
/// One message of each type with awkward values: those of tests/golden/wire/generate.py.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "prism/wire/agent.hpp"

namespace prism::wire {

struct Sample {
  std::string name;
  Message message;
};

/// In the order of tests/golden/wire/stream.bin.
inline std::vector<Sample> samples() {
  return {
      {"hello", Hello{.rank = 3,
                      .world_size = 65536,
                      .pid = 0x0102030405060708,
                      .framework = "torch 2.11.0+cu130",
                      .agent = "0.1.0",
                      .clocks = {1'000'000'001, 2'000'002, 300, 200, 0}}},
      {"group", Group{.id = 7,
                      .member = 1,
                      .name = "dp_\xc3\xa9",
                      .description = "data parallel",
                      .backend = "gloo",
                      .ranks = {0, 8, 16, 4294967295},
                      .clocks = {-1, -2, 0, 0, 4}}},
      {"op", Op{.id = 42,
                .group = 7,
                .sequence = uint64_t{1} << 40,
                .batch = 5,
                .kind = PRISM_COMM_ALL_TO_ALL,
                .reduction = PRISM_REDUCE_NONE,
                .dtype = PRISM_DTYPE_U64,
                .flags = kOpAsync | kOpCoalesced,
                .peer = kAnySource,
                .tag = -5,
                .input_bytes = 48,
                .output_bytes = std::numeric_limits<uint64_t>::max(),
                .send_bytes = {16, 32},
                .recv_bytes = {8, 0, uint64_t{1} << 33},
                .clocks = {std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min(),
                           1, 2, 4294967295}}},
      {"wait", Wait{.op = 42, .via = kWaitFuture, .clocks = {11, 12, 13, 14, 1}}},
      {"done", Done{.op = 42,
                    .made_up = {{kMadeUpEcho, 4096}, {kMadeUpSource, 7, "tokens"}},
                    .clocks = {21, 22, 23, 24, 2}}},
      {"mark", Mark{.kind = kMarkOptimizerEnd, .name = "AdamW", .clocks = {31, 32, 33, 34, 0}}},
      {"bye", Bye{.reason = kByeSystemExit,
                  .exit_code = -9,
                  .detail = "",
                  .files = {"train.py", "", "lib/model.py"},
                  .clocks = {41, 42, 43, 44, 0}}},
      {"welcome",
       Welcome{
           .seed = 0x1122334455667788,
           .rules = {{.place = "exp.toml:31",
                      .kind = PRISM_COMM_RECV,
                      .group = "data parallel",
                      .dtype = PRISM_DTYPE_I64,
                      .ranks = {{3, 7}},
                      .shape = {{-1, 4}},
                      .call = 2,
                      .source = {.id = "constant",
                                 .library = "/lib/libprism_constant.so",
                                 .hash = "0123456789abcdef",
                                 .options = {{.type = PRISM_OPTION_FLOAT,
                                              .set = 1,
                                              .bits = 0x3ff0000000000000}}}},
                     {.source = {.id = "zeros"}}},
           .router =
               Plugin{.id = "zipf",
                      .library = "/lib/zipf.so",
                      .hash = "00ff",
                      .options = {{.type = PRISM_OPTION_STRING},
                                  {.type = PRISM_OPTION_PATH, .set = 1, .text = "/\xc3\xa9"}}}}},
      {"verdict", Verdict{.to = 9, .decision = Decision::Abort, .reason = "rank 3 diverged"}},
  };
}

}  // namespace prism::wire
