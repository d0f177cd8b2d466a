// SPDX-License-Identifier: Apache-2.0
/// What benchmarks of importers have in common.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>

#include "prism/abi/draft/format.h"

namespace prism::bench {

/// Counts nodes and keeps nothing.
struct CountingSink {
  uint64_t nodes = 0;
  uint32_t others = 0;

  prism_trace_sink_t c() {
    return {sizeof(prism_trace_sink_t), 0,         this, &begin_rank, &add_lane,
            &add_communicator,          &add_node, &note};
  }
  static prism_status_t begin_rank(void* /*ctx*/, uint32_t /*rank*/, uint32_t /*clock*/,
                                   prism_str_t /*source*/,
                                   const prism_error_sink_t* /*err*/) noexcept {
    return PRISM_STATUS_OK;
  }
  static prism_status_t add_lane(void* ctx, int32_t /*kind*/, prism_str_t /*name*/, uint32_t* index,
                                 const prism_error_sink_t* /*err*/) noexcept {
    *index = static_cast<CountingSink*>(ctx)->others++;
    return PRISM_STATUS_OK;
  }
  static prism_status_t add_communicator(void* ctx, const prism_trace_communicator_t* /*c*/,
                                         uint32_t* index,
                                         const prism_error_sink_t* /*err*/) noexcept {
    *index = static_cast<CountingSink*>(ctx)->others++;
    return PRISM_STATUS_OK;
  }
  static prism_status_t add_node(void* ctx, const prism_trace_node_t* /*node*/, uint32_t* index,
                                 const prism_error_sink_t* /*err*/) noexcept {
    *index = static_cast<uint32_t>(static_cast<CountingSink*>(ctx)->nodes++);
    return PRISM_STATUS_OK;
  }
  static void note(void* /*ctx*/, prism_str_t /*text*/) noexcept {}
};

/// "VmHWM:" of this process, in bytes.
inline uint64_t memory(std::string_view what) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(what)) {
      return std::stoull(line.substr(what.size())) * 1024;
    }
  }
  return 0;
}

}  // namespace prism::bench
