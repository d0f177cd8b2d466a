// SPDX-License-Identifier: Apache-2.0
/// What a file says, before anything is made of it: workers and what they did.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "decimal.hpp"

namespace prism::microbatch {

/// A rank whose work the file shows.
struct Worker {
  int64_t number = 0;  ///< in the file
  int32_t stage = 0;
  int32_t data = 0;    ///< position in the data-parallel group
  int32_t tensor = 0;  ///< position among the ranks of the same stage and data-parallel position
};

/// One row, one slice.
struct Event {
  uint32_t worker = 0;     ///< index in Trace::workers
  uint32_t operation = 0;  ///< index in Trace::operations
  int64_t step = 0;
  FineTime start;
  FineTime end;
  int32_t sequence = -1;  ///< among those of its worker, step and operation
  int32_t micro_batch = -1;
  int32_t chunk = -1;         ///< of the stage's model
  int32_t global_chunk = -1;  ///< of the whole model; -1: as usual, chunk * stages + stage
  uint32_t place = 0;         ///< line of the CSV, number of the JSON event
};

struct Trace {
  std::string path;
  bool json = false;
  std::vector<Worker> workers;  ///< by number
  std::vector<std::string> operations;
  std::vector<Event> events;

  /// The JSON shows a communication from when the last rank had arrived.
  bool waits_removed() const { return json; }
  /// "FILE:LINE" or "FILE: event N".
  std::string where(uint32_t place) const;
  /// Throws RESOURCE_EXHAUSTED when the trace has grown too large.
  void add(const Event& event);
  /// Index of the operation of that name.
  uint32_t operation(std::string_view name, uint32_t place);
  /// Makes the workers a full grid in the order of their numbers, the events theirs, and checks
  /// that none is told twice. To be called once, when all is read.
  void finish();

 private:
  void order_operations();
  void order_workers();
  void check_grid() const;
  void order_events();
};

/// Reads a file of either form. Throws Error that names file and place.
Trace read_csv(const std::string& path);
Trace read_json(const std::string& path);

}  // namespace prism::microbatch
