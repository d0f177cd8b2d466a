// SPDX-License-Identifier: Apache-2.0
/// What the program gets for an operation: done already, tells when it is waited for.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "plugins/torch/agent/torch_version.hpp"

namespace prism::torch_agent {

class LoneWork : public c10d::Work {
 public:
  /// `op` is 0 for an operation that blocked: waiting for it tells nothing new. `source`: group
  /// position of the sender, for a receive.
  LoneWork(uint64_t op, uint64_t sequence, c10d::OpType type, std::vector<at::Tensor> outputs,
           int source);

  bool isCompleted() override;
  bool isSuccess() const override { return true; }
  std::exception_ptr exception() const override { return nullptr; }
  int sourceRank() const override { return source_; }
  std::vector<at::Tensor> result() override { return outputs_; }
  void synchronize() override;
  bool wait(std::chrono::milliseconds timeout) override;
  void blockCurrentStream() override;
  void abort() override {}
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override;
  c10::intrusive_ptr<c10::ivalue::Future> getFutureResult() override;
  float getDuration() const override { return 0; }
  uint64_t getSequencenumber() const override { return sequence_; }

 private:
  /// Tells of the first wait of each kind; later ones cannot wait any more.
  void waited(uint8_t via);

  const uint64_t op_;
  const uint64_t sequence_;
  const std::vector<at::Tensor> outputs_;
  const int source_;
  std::atomic<uint8_t> told_{0};
};

}  // namespace prism::torch_agent
