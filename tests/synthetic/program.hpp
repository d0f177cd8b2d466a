// SPDX-License-Identifier: Apache-2.0
/// What a rank of a pipeline stage does, as Megatron-LM has it run.
///
/// Lanes: "cpu:0"; "stream:7" with the kernels that compute; "comm:<group>" for each group that the
/// rank communicates in. A kernel of any device lane is launched by a node of the CPU lane. A
/// communication waits for the kernels before it; those after it wait for the communication, except
/// for reductions of gradients that overlap. The CPU waits after each exchange with other stages
/// (batch_p2p_sync), for the norm of the gradients and for the end of the iteration.
///
/// Where the layout has such groups: tensor parallelism all-reduces after attention and MLP, both
/// ways; with experts, all-to-alls before and after each MLP. Each layer is a bucket of the
/// distributed optimizer: gradients are reduce-scattered, parameters all-gathered, those of experts
/// in a group of their own. Embeddings are tied between first and last stage.
#pragma once

#include "core/graph/program.hpp"
#include "tests/synthetic/spec.hpp"

namespace prism::synthetic {

/// Of the stage's first rank; durations without jitter. `spec` is valid.
graph::Program program_of(const Spec& spec, uint32_t stage);

}  // namespace prism::synthetic
