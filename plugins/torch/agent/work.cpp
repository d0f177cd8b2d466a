// SPDX-License-Identifier: Apache-2.0
#include "plugins/torch/agent/work.hpp"

#include <utility>

#include "plugins/torch/agent/session.hpp"

namespace prism::torch_agent {

LoneWork::LoneWork(uint64_t op, uint64_t sequence, c10d::OpType type,
                   std::vector<at::Tensor> outputs, int source)
    : c10d::Work(-1, type),
      op_(op),
      sequence_(sequence),
      outputs_(std::move(outputs)),
      source_(source) {
  completed_ = true;
}

bool LoneWork::isCompleted() {
  // A program that polls goes on from here: that is its wait.
  waited(wire::kWaitWork);
  return true;
}

void LoneWork::synchronize() {
  waited(wire::kWaitWork);
}

bool LoneWork::wait(std::chrono::milliseconds /*timeout*/) {
  waited(wire::kWaitWork);
  return true;
}

void LoneWork::blockCurrentStream() {
  waited(wire::kWaitWork);
}

c10::intrusive_ptr<c10::ivalue::Future> LoneWork::getFuture() {
  waited(wire::kWaitFuture);
  auto future =
      c10::make_intrusive<c10::ivalue::Future>(c10::ListType::create(c10::TensorType::get()));
  future->markCompleted(at::IValue(outputs_));
  return future;
}

c10::intrusive_ptr<c10::ivalue::Future> LoneWork::getFutureResult() {
  auto future = c10::make_intrusive<c10::ivalue::Future>(c10::AnyEnumType::get());
  future->markCompleted(at::IValue(static_cast<uint8_t>(c10d::WorkResult::SUCCESS)));
  return future;
}

void LoneWork::waited(uint8_t via) {
  if (op_ == 0 || (told_.fetch_or(via) & via) != 0) {
    return;
  }
  const Entry entry;
  Session::get().ask(wire::Wait{.op = op_, .via = via, .clocks = entry.entered()});
}

}  // namespace prism::torch_agent
