// SPDX-License-Identifier: Apache-2.0
#include "plugins/formats/kineto/read.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "plugins/formats/kineto/archive.hpp"
#include "plugins/formats/kineto/calls.hpp"
#include "plugins/formats/kineto/event.hpp"
#include "plugins/formats/kineto/metadata.hpp"
#include "plugins/formats/kineto/scanner.hpp"
#include "prism/sdk/error.hpp"
#include "prism/sdk/tensor.hpp"

namespace prism::kineto {
namespace {

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string lower(std::string_view text) {
  std::string result(text.substr(0, 256));
  std::transform(result.begin(), result.end(), result.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return result;
}

Phase phase_of(const std::string& lowered) {
  if (contains(lowered, "zero_grad")) {
    return Phase::None;
  }
  return contains(lowered, "backward")    ? Phase::Backward
         : contains(lowered, "optimizer") ? Phase::Optimizer
         : contains(lowered, "forward")   ? Phase::Forward
                                          : Phase::None;
}

/// "micro_batch 3", "microbatch#3": 3; else -1.
int32_t micro_batch_of(const std::string& lowered) {
  for (const std::string_view word : {"micro_batch", "microbatch", "micro-batch"}) {
    const size_t at = lowered.find(word);
    if (at == std::string::npos) {
      continue;
    }
    const size_t digit = lowered.find_first_not_of(" _:#=-", at + word.size());
    int32_t number = -1;
    if (digit != std::string::npos) {
      std::from_chars(lowered.data() + digit, lowered.data() + lowered.size(), number);
    }
    return number;
  }
  return -1;
}

class Reader {
 public:
  explicit Reader(Source& source) : scanner_(source) {}

  RankTrace read() {
    Scanner::Item item;
    while (scanner_.next(item)) {
      try {
        if (item.key.empty()) {
          parser_.parse(item.text, event_);
          take();
        } else {
          take_member(item.key, item.text, trace_);
        }
      } catch (const std::string& what) {
        throw Malformed(item.at, false, what);
      }
    }
    trace_.counts.foreign_words = scanner_.foreign_words();
    return std::move(trace_);
  }

 private:
  void take() {
    switch (event_.category) {
      case Category::Ignored:
        return;
      case Category::Kernel:
        return take_device(is_nccl_kernel(event_.name));
      case Category::Copy:
        return take_device(false);
      case Category::Call:
        return take_call();
      case Category::SyncFact:
        return take_sync_fact();
      case Category::Operation:
      case Category::NcclAnnotation:
        return take_operation();
      case Category::Annotation:
        return take_annotation();
      case Category::AutogradOp:
        trace_.lanes[trace_.thread(event_.thread)].autograd = true;
        return;
      case Category::ForwardMark:
        trace_.forward_marks.push_back({trace_.thread(event_.thread), event_.start});
        return;
    }
  }

  Record& add(Kind kind, uint32_t lane, uint32_t detail) {
    if (event_.duration < 0) {
      ++trace_.counts.negative_durations;
      event_.duration = 0;
    }
    if (event_.duration > Record::kLongest) {
      throw "the event '" + std::string(event_.name.substr(0, 80)) + "' lasts more than three days";
    }
    if (trace_.records.size() == kNone - 1) {
      throw std::string("the trace has too many events");
    }
    Record& record = trace_.records.emplace_back(kind, lane, event_.start, event_.duration, detail);
    const int64_t correlation = event_.args.correlation;
    record.correlation =
        correlation > 0 && correlation < kNone ? static_cast<uint32_t>(correlation) : kNone;
    return record;
  }

  uint32_t stream_of(int64_t stream) {
    return trace_.stream(std::max<int64_t>(event_.args.device, 0), stream);
  }

  void take_device(bool nccl) {
    const Arguments& args = event_.args;
    const uint32_t lane = stream_of(args.stream >= 0 ? args.stream : event_.thread);
    const uint32_t name = trace_.names.index(event_.name);
    if (!nccl) {
      const bool kernel = event_.category == Category::Kernel;
      add(kernel ? Kind::Kernel : Kind::Copy, lane, name);
      return;
    }
    Communication communication = of_kernel_name(event_.name);
    communication.name = name;
    add(Kind::Communication, lane, trace_.communications.index(described(communication)));
  }

  void take_call() {
    const std::optional<Kind> kind = kind_of_call(event_.name);
    if (!kind) {
      return;
    }
    const uint32_t lane = trace_.thread(event_.thread);
    add(*kind, lane, trace_.names.index(event_.name));
    trace_.lanes[lane].calls += *kind == Kind::Launch || is_sync(*kind) ? 1 : 0;
  }

  void take_sync_fact() {
    const Arguments& args = event_.args;
    if (args.correlation <= 0 || args.correlation >= kNone) {
      return;
    }
    SyncFact fact;
    fact.correlation = static_cast<uint32_t>(args.correlation);
    if (contains(event_.name, "Wait") && args.stream >= 0) {
      fact.waiting = stream_of(args.stream);
    }
    const int64_t awaited = contains(event_.name, "Stream Sync") && args.awaited_stream < 0
                                ? args.stream
                                : args.awaited_stream;
    if (awaited >= 0 && awaited < kNone) {  // all ones: not known
      fact.awaited = stream_of(awaited);
    }
    if (args.event_record > 0 && args.event_record < kNone) {
      fact.event_record = static_cast<uint32_t>(args.event_record);
    }
    trace_.sync_facts.push_back(fact);
  }

  void take_operation() {
    const Arguments& args = event_.args;
    Communication communication;
    const bool wait = args.collective == "wait";
    if (event_.category == Category::NcclAnnotation) {
      communication.kind = kind_of_collective(event_.name.substr(event_.name.find(':') + 1));
      // "nccl:coalesced" is of no kind: only its span counts.
      communication.dtype = dtype_of(args.tensor_type);
      communication.input_bytes = bytes_of(args.tensor_elements, communication.dtype);
    } else if (args.collective.empty()) {
      return;
    }
    const uint32_t lane = trace_.thread(event_.thread);
    add(wait ? Kind::Wait : Kind::Operation, lane,
        trace_.communications.index(described(communication)));
  }

  void take_annotation() {
    constexpr std::string_view kStep = "ProfilerStep#";
    const uint32_t lane = trace_.thread(event_.thread);
    if (event_.name.starts_with(kStep)) {
      uint32_t step = 0;
      const std::string_view digits = event_.name.substr(kStep.size());
      const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), step);
      if (error == std::errc() && end == digits.data() + digits.size() && step <= INT32_MAX) {
        add(Kind::Step, lane, step);
      }
      return;
    }
    if (event_.name.starts_with("gloo:")) {
      ++trace_.counts.gloo;
      return;
    }
    const std::string lowered = lower(event_.name);
    const Phase phase = phase_of(lowered);
    const int32_t micro_batch = micro_batch_of(lowered);
    if (phase != Phase::None || micro_batch >= 0) {
      const int64_t end = event_.start + std::max<int64_t>(event_.duration, 0);
      trace_.annotations.push_back({lane, event_.start, end, phase, micro_batch});
    }
  }

  static int64_t bytes_of(int64_t elements, int32_t dtype) {
    const auto size = static_cast<int64_t>(sdk::element_size(dtype));
    int64_t bytes = -1;
    if (elements < 0 || size == 0 || __builtin_mul_overflow(elements, size, &bytes)) {
      return -1;
    }
    return bytes;
  }

  /// With what the arguments say.
  Communication described(Communication communication) {
    const Arguments& args = event_.args;
    if (!args.collective.empty() && args.collective != "wait") {
      communication.kind = kind_of_collective(args.collective);
    }
    if (!args.dtype.empty()) {
      communication.dtype = dtype_of(args.dtype);
      communication.input_bytes = bytes_of(args.input_elements, communication.dtype);
      communication.output_bytes = bytes_of(args.output_elements, communication.dtype);
    }
    if (args.has_group) {
      communication.group = trace_.groups.index(
          {std::string(args.group_name), std::string(args.group_description),
           std::string(args.group_ranks), args.group_size, args.first_rank, args.rank_stride});
    }
    const auto small = [](int64_t number) {
      return number >= 0 && number < (1 << 24) ? static_cast<int32_t>(number) : -1;
    };
    communication.rank = small(args.rank);
    communication.peer =
        small(args.destination_rank >= 0 ? args.destination_rank : args.source_rank);
    communication.sequence = args.sequence;
    return communication;
  }

  Scanner scanner_;
  EventParser parser_;
  Event event_;
  RankTrace trace_;
};

}  // namespace

std::string shown(const std::string& path, const std::string& entry) {
  return entry.empty() ? "the file '" + path + "'"
                       : "the file '" + entry + "' of the archive '" + path + "'";
}

RankTrace read_trace(const std::string& path, const std::string& entry, Source& source) {
  try {
    return Reader(source).read();
  } catch (const Malformed& malformed) {
    throw sdk::Error(malformed.cut() ? PRISM_STATUS_DATA_LOSS : PRISM_STATUS_INVALID_ARGUMENT,
                     shown(path, entry) + ", line " +
                         std::to_string(line_of(path, entry, malformed.at())) + " (byte " +
                         std::to_string(malformed.at()) + "): " + malformed.what());
  } catch (const sdk::Error& error) {
    // Names its file already, or is of the trace as a whole.
    const std::string text = error.what();
    throw sdk::Error(error.code(), text.find(path) == std::string::npos
                                       ? shown(path, entry) + ": " + text
                                       : text);
  }
}

}  // namespace prism::kineto
