// SPDX-License-Identifier: Apache-2.0
/// Nodes in words, for messages: always rank, lane and node.
#pragma once

#include <string>

#include "core/graph/job.hpp"

namespace prism::graph {

/// "float32", "int64", ... of PRISM_DTYPE_*.
const char* dtype_name(uint8_t dtype);
/// "sum", "max", ... of PRISM_REDUCE_*.
const char* reduction_name(uint8_t reduction);
/// "0-7", "0,2,4,...,62 (32 ranks)".
std::string ranks_in_words(const std::vector<Rank>& ranks);
/// "'dp' (gloo, ranks 0-7)".
std::string describe(const Communicator& communicator);
/// "lane comm:dp, node 17 (all_reduce 3 on 'dp', float32 sum, 4096 bytes)".
std::string describe_node(const Program& program, uint32_t node);
/// "rank 5, " and the above; peers are those of that rank.
std::string describe_node(const Job& job, Rank rank, uint32_t node);
/// "send of 64 bytes float32 to rank 3, tag 7, on 'pp'".
std::string describe_part(const Job& job, Rank rank, const Part& part);

}  // namespace prism::graph
