// SPDX-License-Identifier: Apache-2.0
#include "plugins/torch/agent/sources.hpp"

#include <algorithm>
#include <utility>

#include "plugins/torch/agent/session.hpp"
#include "plugins/torch/agent/values.hpp"
#include "prism/sdk/comm.hpp"
#include "prism/sdk/tensor.hpp"
#include "prism/wire/options.hpp"

namespace prism::torch_agent {
namespace {

/// "bf16 [4, 8] from rank 2, in all_gather 5 on 'dp' (from 0)".
std::string in_words(const at::Tensor& out, const Received& received) {
  std::string text(sdk::dtype_name(dtype_of(out.scalar_type())));
  text += " [";
  for (int64_t i = 0; i < out.dim(); ++i) {
    text += (i > 0 ? ", " : "") + std::to_string(out.size(i));
  }
  text += "]";
  text += received.peer >= 0 ? " from rank " + std::to_string(received.peer) : "";
  return text + ", in call " + std::to_string(received.call) + " of " +
         std::string(sdk::comm_name(received.kind)) + " on '" + received.group + "'";
}

}  // namespace

Sources& Sources::get() {
  // Never destroyed: see Session.
  static Sources& sources = *new Sources;
  return sources;
}

void Sources::open(const std::vector<wire::SourceRule>& rules) {
  for (const wire::SourceRule& says : rules) {
    const Bound bound = bind_plugin(says.source, PRISM_TENSOR_SOURCE_1, says.place);
    auto source = std::make_unique<host::TensorSource>(
        bound.library->name(), static_cast<const prism_tensor_source_t*>(bound.table));
    if (const host::Outcome outcome = source->open(wire::from_wire(says.source.options));
        !outcome.ok()) {
      end(kAborted, says.place + ": " + outcome.text);
    }
    rules_.push_back({says, bound.library, std::move(source)});
  }
}

void Sources::close() {
  if (const std::unique_lock lock(mutex_, std::try_to_lock); lock) {
    rules_.clear();
  }
}

const std::string* Sources::fill(const at::Tensor& out, const Received& received) {
  if (out.numel() == 0 || out.is_sparse()) {
    return nullptr;
  }
  const std::lock_guard lock(mutex_);
  const auto rule = std::find_if(rules_.begin(), rules_.end(),
                                 [&](const Rule& r) { return matches(r.says, out, received); });
  if (rule == rules_.end()) {
    return nullptr;
  }
  if (out.device().is_cpu() && out.is_contiguous()) {
    write(*rule, out, received);
  } else {
    const at::Tensor flat = at::empty(out.sizes(), out.options().device(at::kCPU));
    write(*rule, flat, received);
    out.copy_(flat);
  }
  return &rule->says.source.id;
}

bool Sources::matches(const wire::SourceRule& rule, const at::Tensor& out,
                      const Received& received) {
  const auto is = [](const auto& condition, const auto& value) {
    return !condition || *condition == value;
  };
  const auto has_shape = [&] {
    return std::equal(
        rule.shape->begin(), rule.shape->end(), out.sizes().begin(), out.sizes().end(),
        [](int64_t wanted, int64_t extent) { return wanted < 0 || wanted == extent; });
  };
  const auto has_rank = [&] {
    return std::find(rule.ranks->begin(), rule.ranks->end(), Session::get().rank()) !=
           rule.ranks->end();
  };
  return is(rule.kind, received.kind) && is(rule.group, received.group) &&
         is(rule.call, received.call) && is(rule.dtype, dtype_of(out.scalar_type())) &&
         (!rule.shape || has_shape()) && (!rule.ranks || has_rank());
}

void Sources::write(const Rule& rule, const at::Tensor& out, const Received& received) {
  prism_tensor_t tensor{};
  tensor.struct_size = sizeof tensor;
  tensor.data = out.data_ptr();
  tensor.device_type = PRISM_DEVICE_CPU;
  tensor.dtype = dtype_of(out.scalar_type());
  tensor.ndim = static_cast<uint32_t>(out.dim());
  tensor.shape = out.sizes().data();
  const Session& session = Session::get();
  prism_tensor_request_t request{};
  request.struct_size = sizeof request;
  request.seed = session.seed();
  request.group = {received.group.data(), received.group.size()};
  request.call = received.call;
  request.rank = session.rank();
  request.peer = received.peer;
  request.kind = received.kind;
  request.part = received.part;
  if (const host::Outcome outcome = rule.source->fill(request, tensor); !outcome.ok()) {
    end(kAborted, rule.says.place + ": " + outcome.text + "\n  rank " +
                      std::to_string(session.rank()) + " was to get " + in_words(out, received));
  }
}

}  // namespace prism::torch_agent
