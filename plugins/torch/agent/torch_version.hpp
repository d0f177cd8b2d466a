// SPDX-License-Identifier: Apache-2.0
/// All that depends on the minor version of torch. The tables of virtual functions of c10d::Backend
/// and c10d::Work change between minors, so there is one agent per minor; what a minor adds or
/// takes away is told apart here and nowhere else.
#pragma once

#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <torch/csrc/distributed/c10d/Types.hpp>
#include <torch/csrc/distributed/c10d/Utils.hpp>
#include <torch/csrc/distributed/c10d/Work.hpp>
#include <torch/version.h>

static_assert(TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 11,
              "the agent is written for torch 2.11 and later");
