// SPDX-License-Identifier: Apache-2.0
/// A communicator of a rank that runs alone: takes the place of ProcessGroupGloo or
/// ProcessGroupNCCL. Every operation tells the coordinator, waits for its verdict and then makes
/// the outputs itself: by a rule of the experiment file,
/// by echo (the absent peers mirror this rank) or by fill.
///
/// Roots and peers are positions in the group, as everywhere below Python.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "plugins/torch/agent/torch_version.hpp"
#include "prism/abi/comm.h"
#include "prism/wire/agent.hpp"

namespace prism::torch_agent {

struct GroupInfo {
  std::string name;
  std::string description;
  std::vector<uint32_t> ranks;  ///< logical ranks in group order
};

/// Values that the next receiving operations of this thread get instead of an echo or a fill, in
/// order: set around an object collective, whose sizes and bytes must fit each other.
void expect(std::vector<at::Tensor> values);

/// Until the matching keep(false): buffers that this thread receives into hold what the peers hold.
void keep(bool on);

class LoneBackend : public c10d::Backend {
 public:
  /// Tells the coordinator of the group.
  LoneBackend(std::string backend_name, int rank, GroupInfo info);

  const std::string getBackendName() const override { return name_; }
  c10::intrusive_ptr<Options> getBackendOptions() override;
  void setTimeout(std::chrono::milliseconds timeout) override { options_->timeout = timeout; }
  c10d::ErrorType getError() override { return c10d::ErrorType::SUCCESS; }
  void setSequenceNumberForGroup() override {}
  uint64_t getSequenceNumberForGroup() override { return sequence_; }

  void waitForPendingWorks() override {}
  void enableCollectivesTiming() override {}

  // Gloo refuses to coalesce messages, and programs ask first: what they then do differs.
  bool supportsCoalescing() const override { return name_ == "nccl"; }
  void startCoalescing() override;
  c10::intrusive_ptr<c10d::Work> endCoalescing() override;

  bool supportsSplitting() const override { return name_ == "nccl"; }
  c10::intrusive_ptr<c10d::Backend> split(const c10::intrusive_ptr<c10d::Store>& store,
                                          const std::vector<int>& ranks,
                                          const c10::intrusive_ptr<Options>& opts) override;

  c10::intrusive_ptr<c10d::Work> broadcast(std::vector<at::Tensor>& tensors,
                                           const c10d::BroadcastOptions& opts) override;
  c10::intrusive_ptr<c10d::Work> allreduce(std::vector<at::Tensor>& tensors,
                                           const c10d::AllreduceOptions& opts) override;
  c10::intrusive_ptr<c10d::Work> allreduce_sparse(std::vector<at::Tensor>& tensors,
                                                  const c10d::AllreduceOptions& opts) override;
  c10::intrusive_ptr<c10d::Work> allreduce_coalesced(
      std::vector<at::Tensor>& tensors, const c10d::AllreduceCoalescedOptions& opts) override;
  c10::intrusive_ptr<c10d::Work> reduce(std::vector<at::Tensor>& tensors,
                                        const c10d::ReduceOptions& opts) override;
  c10::intrusive_ptr<c10d::Work> allgather(std::vector<std::vector<at::Tensor>>& outputs,
                                           std::vector<at::Tensor>& inputs,
                                           const c10d::AllgatherOptions& opts) override;
  c10::intrusive_ptr<c10d::Work> _allgather_base(at::Tensor& output, at::Tensor& input,
                                                 const c10d::AllgatherOptions& opts) override;
  c10::intrusive_ptr<c10d::Work> allgather_coalesced(std::vector<std::vector<at::Tensor>>& outputs,
                                                     std::vector<at::Tensor>& inputs,
                                                     const c10d::AllgatherOptions& opts) override;
  c10::intrusive_ptr<c10d::Work> allgather_into_tensor_coalesced(
      std::vector<at::Tensor>& outputs, std::vector<at::Tensor>& inputs,
      const c10d::AllgatherOptions& opts) override;
  c10::intrusive_ptr<c10d::Work> gather(std::vector<std::vector<at::Tensor>>& outputs,
                                        std::vector<at::Tensor>& inputs,
                                        const c10d::GatherOptions& opts) override;
  c10::intrusive_ptr<c10d::Work> scatter(std::vector<at::Tensor>& outputs,
                                         std::vector<std::vector<at::Tensor>>& inputs,
                                         const c10d::ScatterOptions& opts) override;
  c10::intrusive_ptr<c10d::Work> reduce_scatter(std::vector<at::Tensor>& outputs,
                                                std::vector<std::vector<at::Tensor>>& inputs,
                                                const c10d::ReduceScatterOptions& opts) override;
  c10::intrusive_ptr<c10d::Work> _reduce_scatter_base(
      at::Tensor& output, at::Tensor& input, const c10d::ReduceScatterOptions& opts) override;
  c10::intrusive_ptr<c10d::Work> reduce_scatter_tensor_coalesced(
      std::vector<at::Tensor>& outputs, std::vector<at::Tensor>& inputs,
      const c10d::ReduceScatterOptions& opts) override;
  c10::intrusive_ptr<c10d::Work> alltoall_base(at::Tensor& output, at::Tensor& input,
                                               std::vector<int64_t>& output_splits,
                                               std::vector<int64_t>& input_splits,
                                               const c10d::AllToAllOptions& opts) override;
  c10::intrusive_ptr<c10d::Work> alltoall(std::vector<at::Tensor>& outputs,
                                          std::vector<at::Tensor>& inputs,
                                          const c10d::AllToAllOptions& opts) override;
  c10::intrusive_ptr<c10d::Work> send(std::vector<at::Tensor>& tensors, int peer, int tag) override;
  c10::intrusive_ptr<c10d::Work> recv(std::vector<at::Tensor>& tensors, int peer, int tag) override;
  c10::intrusive_ptr<c10d::Work> recvAnysource(std::vector<at::Tensor>& tensors, int tag) override;
  c10::intrusive_ptr<c10d::Work> barrier(const c10d::BarrierOptions& opts) override;
  void monitoredBarrier(const c10d::BarrierOptions& opts, bool wait_all_ranks) override;

 private:
  /// Counts what an operation made up.
  struct MadeUp {
    uint8_t kind = 0;    ///< of the operation, PRISM_COMM_
    uint64_t call = 0;   ///< the n-th of its kind on this communicator
    uint32_t parts = 0;  ///< tensors received so far
    uint64_t echoed = 0;
    uint64_t filled = 0;
    std::map<std::string, uint64_t> sourced;  ///< by id of the tensor source
  };

  /// Tells of `op`, lets `make_outputs(MadeUp&)` write them once the coordinator says so, and tells
  /// that they are there. An operation with `async` gives a Work that tells when it is waited for.
  template <typename MakeOutputs>
  c10::intrusive_ptr<c10d::Work> run(c10d::OpType type, wire::Op op, bool async,
                                     std::vector<at::Tensor> outputs, MakeOutputs&& make_outputs,
                                     int source = -1);

  /// Makes what the peer at this position would have sent into `out`; wire::kNoPeer: any peer.
  void receive(const at::Tensor& out, int64_t position, uint64_t op, MadeUp& made_up) const;
  /// Does so where a rule of the experiment file says how.
  bool receive_by_rule(const at::Tensor& out, int64_t position, MadeUp& made_up) const;
  void all_reduce(at::TensorList tensors, const c10d::ReduceOp& op, MadeUp& made_up) const;
  /// Writes `input` once per member; `outputs` has one tensor, or one per member.
  void all_gather(at::TensorList outputs, const at::Tensor& input, MadeUp& made_up) const;
  /// Overwrites the parts of peers for which there is a rule.
  void gather_by_rule(at::TensorList outputs, const at::Tensor& input, MadeUp& made_up) const;
  void reduce_scatter(const at::Tensor& output, const at::Tensor& own, const c10d::ReduceOp& op,
                      MadeUp& made_up) const;
  /// One chunk per member each.
  void all_to_all(at::TensorList outputs, at::TensorList inputs, uint64_t op,
                  MadeUp& made_up) const;

  int64_t members() const { return getSize(); }
  bool alone() const { return getSize() == 1; }
  void check_position(int64_t position, const char* what) const;

  const std::string name_;
  const GroupInfo info_;
  const c10::intrusive_ptr<Options> options_;
  const uint32_t group_;
  std::atomic<uint64_t> sequence_{0};
  std::array<std::atomic<uint64_t>, PRISM_COMM_RECV + 1> calls_{};  ///< by kind

  uint64_t batch_ = 0;  // > 0 between startCoalescing and endCoalescing
  uint64_t last_in_batch_ = 0;
  std::vector<at::Tensor> batch_outputs_;
};

}  // namespace prism::torch_agent
