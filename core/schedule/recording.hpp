// SPDX-License-Identifier: Apache-2.0
/// The events of one rank's run, as its agent sent them: the file `events` of a run directory is
/// the stream of frames, byte by byte.
#pragma once

#include <string>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/status.hpp"
#include "prism/wire/agent.hpp"

namespace prism::schedule {

struct Recording {
  Rank rank = 0;
  uint32_t world_size = 0;
  std::vector<wire::Message> events;  ///< in the order of arrival; Hello first
  bool complete = false;              ///< the last event is a Bye
};

/// Reads an events file. Errors: unreadable, no event, a frame that cannot be decoded (names the
/// frame), a first event that is no Hello.
Result<Recording> read_recording(const std::string& path);

/// "all_reduce #12 on 'default_pg' (4194304 bytes float32)": an event in words, for messages.
std::string describe_operation(const wire::Op& op, const std::vector<wire::Group>& groups);

}  // namespace prism::schedule
