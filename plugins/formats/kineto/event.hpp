// SPDX-License-Identifier: Apache-2.0
/// One event of a trace, of which only what matters is parsed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace prism::kineto {

enum class Category : uint8_t {
  Ignored,
  Kernel,
  Copy,
  Call,            ///< of CUDA's runtime or driver
  SyncFact,        ///< "cuda_sync"
  Operation,       ///< record_param_comms
  NcclAnnotation,  ///< "nccl:all_reduce"
  Annotation,      ///< a user's
  AutogradOp,      ///< only its thread
  ForwardMark,     ///< begin of an arrow from forward to backward
};

/// Arguments; -1 or "": not there.
struct Arguments {
  int64_t correlation = -1;
  int64_t stream = -1;
  int64_t device = -1;
  int64_t input_elements = -1;
  int64_t output_elements = -1;
  int64_t group_size = -1;
  int64_t first_rank = -1;
  int64_t rank_stride = -1;
  int64_t rank = -1;
  int64_t source_rank = -1;
  int64_t destination_rank = -1;
  int64_t sequence = -1;
  int64_t awaited_stream = -1;
  int64_t event_record = -1;
  int64_t tensor_elements = -1;  ///< of all "Input Dims"
  std::string_view collective;
  std::string_view dtype;
  std::string_view tensor_type;
  std::string_view group_name;
  std::string_view group_description;
  std::string_view group_ranks;
  bool has_group = false;
};

/// Views are valid until the next event. Times in ns.
struct Event {
  Category category = Category::Ignored;
  std::string_view name;
  int64_t thread = 0;
  int64_t start = 0;
  int64_t duration = 0;
  Arguments args;
};

class EventParser {
 public:
  EventParser();
  ~EventParser();
  EventParser(const EventParser&) = delete;
  EventParser& operator=(const EventParser&) = delete;

  /// `text`: an object, with Scanner::kPadding bytes behind it. Throws std::string: what is wrong.
  void parse(std::string_view text, Event& event);

 private:
  struct Json;
  const std::unique_ptr<Json> json_;
};

}  // namespace prism::kineto
