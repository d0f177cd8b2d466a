// SPDX-License-Identifier: Apache-2.0
#include "plugins/torch/agent/backend.hpp"

#include <algorithm>
#include <deque>
#include <iterator>
#include <utility>

#include "plugins/torch/agent/session.hpp"
#include "plugins/torch/agent/sources.hpp"
#include "plugins/torch/agent/values.hpp"
#include "plugins/torch/agent/work.hpp"
#include "prism/abi/comm.h"

namespace prism::torch_agent {
namespace {

using c10d::OpType;
using WorkPtr = c10::intrusive_ptr<c10d::Work>;
using Tensors = std::vector<at::Tensor>;

thread_local std::deque<at::Tensor> expected;
thread_local int kept = 0;

at::Tensor& only(Tensors& tensors) {
  TORCH_CHECK(tensors.size() == 1, "expected one tensor per rank, got ", tensors.size());
  return tensors[0];
}

Tensors& only(std::vector<Tensors>& lists) {
  TORCH_CHECK(lists.size() == 1, "expected one list of tensors per rank, got ", lists.size());
  return lists[0];
}

void check_equal(int64_t got, int64_t expected_value, const char* what) {
  TORCH_CHECK(got == expected_value, what, ": expected ", expected_value, ", got ", got);
}

/// The parts of `tensor` along its first dimension: of the given sizes, or of equal ones where
/// there are none given.
Tensors split_rows(const at::Tensor& tensor, const std::vector<int64_t>& sizes, int64_t members) {
  c10d::checkSplitSizes(sizes, tensor, static_cast<int>(members));
  if (sizes.empty()) {
    const int64_t rows = tensor.size(0) / members;
    return tensor.split_with_sizes(std::vector<int64_t>(static_cast<size_t>(members), rows));
  }
  return tensor.split_with_sizes(sizes);
}

std::vector<uint64_t> bytes_each(at::TensorList tensors) {
  std::vector<uint64_t> bytes;
  bytes.reserve(tensors.size());
  for (const at::Tensor& tensor : tensors) {
    bytes.push_back(bytes_of(tensor));
  }
  return bytes;
}

Tensors concat(const std::vector<Tensors>& lists) {
  Tensors all;
  for (const Tensors& list : lists) {
    all.insert(all.end(), list.begin(), list.end());
  }
  return all;
}

}  // namespace

void expect(Tensors values) {
  expected.assign(std::make_move_iterator(values.begin()), std::make_move_iterator(values.end()));
}

void keep(bool on) {
  kept += on ? 1 : -1;
}

LoneBackend::LoneBackend(std::string backend_name, int rank, GroupInfo info)
    : c10d::Backend(rank, static_cast<int>(info.ranks.size())),
      name_(std::move(backend_name)),
      info_(std::move(info)),
      options_(c10::make_intrusive<Options>(name_)),
      group_([this] {
        const Entry entry;
        return Session::get().group({.member = 1,
                                     .name = info_.name,
                                     .description = info_.description,
                                     .backend = name_,
                                     .ranks = info_.ranks,
                                     .clocks = entry.entered()});
      }()) {
  init();
  options_->group_name = info_.name;
  options_->group_desc = info_.description;
  options_->global_ranks_in_group.assign(info_.ranks.begin(), info_.ranks.end());
}

c10::intrusive_ptr<c10d::Backend::Options> LoneBackend::getBackendOptions() {
  return options_;
}

template <typename MakeOutputs>
WorkPtr LoneBackend::run(OpType type, wire::Op op, bool async, Tensors outputs,
                         MakeOutputs&& make_outputs, int source) {
  Session& session = Session::get();
  TORCH_CHECK(session.speaking(),
              "Prism: a forked child process cannot communicate: it is no rank of the job");
  const Entry entry;
  const bool collective = !c10d::isP2POp(type);
  op.id = session.next_op();
  op.group = group_;
  op.sequence = collective ? sequence_++ : 0;
  op.batch = batch_;
  op.flags =
      static_cast<uint8_t>((async ? wire::kOpAsync : 0) | (batch_ > 0 ? wire::kOpCoalesced : 0));
  op.clocks = entry.entered();
  const uint64_t id = op.id;
  const uint64_t sequence = op.sequence;
  const uint8_t kind = op.kind;
  session.ask(std::move(op));

  MadeUp made_up;
  made_up.kind = kind;
  made_up.call = calls_[kind]++;
  {
    const Unseen unseen;
    make_outputs(id, made_up);
  }
  wire::Done done{.op = id, .clocks = entry.now()};
  if (made_up.echoed > 0) {
    done.made_up.push_back({wire::kMadeUpEcho, made_up.echoed});
  }
  if (made_up.filled > 0) {
    done.made_up.push_back({wire::kMadeUpFill, made_up.filled});
  }
  for (const auto& [plugin, bytes] : made_up.sourced) {
    done.made_up.push_back({wire::kMadeUpSource, bytes, plugin});
  }
  session.tell(std::move(done));

  if (batch_ > 0) {
    last_in_batch_ = id;
    batch_outputs_.insert(batch_outputs_.end(), outputs.begin(), outputs.end());
  } else if (!async && name_ == "nccl") {
    return nullptr;  // as ProcessGroupNCCL: the operation is in order on the current stream
  }
  return c10::make_intrusive<LoneWork>(async && batch_ == 0 ? id : 0, sequence, type,
                                       std::move(outputs), source);
}

bool LoneBackend::receive_by_rule(const at::Tensor& out, int64_t position, MadeUp& made_up) const {
  Sources& sources = Sources::get();
  // What must fit other data, or is known, is not for rules.
  if (!sources.any() || alone() || kept > 0 || !expected.empty()) {
    return false;
  }
  Received received{.group = info_.description, .kind = made_up.kind, .call = made_up.call};
  received.peer = position < 0 ? wire::kNoPeer
                               : static_cast<int32_t>(info_.ranks[static_cast<size_t>(position)]);
  received.part = made_up.parts++;
  const std::string* plugin = sources.fill(out, received);
  if (plugin != nullptr) {
    made_up.sourced[*plugin] += bytes_of(out);
  }
  return plugin != nullptr;
}

void LoneBackend::receive(const at::Tensor& out, int64_t position, uint64_t op,
                          MadeUp& made_up) const {
  if (receive_by_rule(out, position, made_up)) {
    return;
  }
  if (!expected.empty()) {
    spread(out, expected.front());
    expected.pop_front();
    made_up.echoed += bytes_of(out);
  } else if (kept > 0 || written(out)) {
    made_up.echoed += bytes_of(out);
  } else {
    const Session& session = Session::get();
    fill(out, session.seed() + session.rank() * 0x9e3779b97f4a7c15u + op);
    made_up.filled += bytes_of(out);
  }
}

void LoneBackend::check_position(int64_t position, const char* what) const {
  TORCH_CHECK(position >= 0 && position < members(), what, " ", position,
              " is no position in a group of ", members());
}

// Coalescing

void LoneBackend::startCoalescing() {
  TORCH_CHECK(batch_ == 0, "operations of this group are being coalesced already");
  batch_ = Session::get().next_batch();
  last_in_batch_ = 0;
}

WorkPtr LoneBackend::endCoalescing() {
  TORCH_CHECK(batch_ > 0, "operations of this group are not being coalesced");
  batch_ = 0;
  return c10::make_intrusive<LoneWork>(last_in_batch_, sequence_, OpType::COALESCED,
                                       std::exchange(batch_outputs_, {}), -1);
}

c10::intrusive_ptr<c10d::Backend> LoneBackend::split(
    const c10::intrusive_ptr<c10d::Store>& /*store*/, const std::vector<int>& ranks,
    const c10::intrusive_ptr<Options>& opts) {
  GroupInfo info;
  if (opts) {
    info.name = opts->group_name;
    info.description = opts->group_desc;
  }
  int position = -1;
  for (size_t i = 0; i < ranks.size(); ++i) {
    check_position(ranks[i], "rank");
    info.ranks.push_back(info_.ranks[static_cast<size_t>(ranks[i])]);
    if (ranks[i] == getRank()) {
      position = static_cast<int>(i);
    }
  }
  if (position < 0) {
    const Entry entry;
    Session::get().group({.member = 0,
                          .name = info.name,
                          .description = info.description,
                          .backend = name_,
                          .ranks = info.ranks,
                          .clocks = entry.entered()});
    return nullptr;
  }
  return c10::make_intrusive<LoneBackend>(name_, position, std::move(info));
}

// Reductions

void LoneBackend::all_reduce(at::TensorList tensors, const c10d::ReduceOp& op,
                             MadeUp& made_up) const {
  for (const at::Tensor& tensor : tensors) {
    if (!receive_by_rule(tensor, wire::kNoPeer, made_up)) {
      reduce_alike(tensor, op, members());
      made_up.echoed += alone() ? 0 : bytes_of(tensor);
    }
  }
}

WorkPtr LoneBackend::allreduce(Tensors& tensors, const c10d::AllreduceOptions& opts) {
  const uint64_t bytes = bytes_of(tensors);
  wire::Op op{.kind = PRISM_COMM_ALL_REDUCE,
              .reduction = reduction_of(opts.reduceOp),
              .dtype = dtype_of(tensors),
              .input_bytes = bytes,
              .output_bytes = bytes};
  return run(OpType::ALLREDUCE, std::move(op), opts.asyncOp, tensors,
             [&](uint64_t, MadeUp& made_up) { all_reduce(tensors, opts.reduceOp, made_up); });
}

WorkPtr LoneBackend::allreduce_sparse(Tensors& tensors, const c10d::AllreduceOptions& opts) {
  return allreduce(tensors, opts);
}

WorkPtr LoneBackend::allreduce_coalesced(Tensors& tensors,
                                         const c10d::AllreduceCoalescedOptions& opts) {
  return allreduce(tensors, opts);
}

WorkPtr LoneBackend::reduce(Tensors& tensors, const c10d::ReduceOptions& opts) {
  check_position(opts.rootRank, "root");
  const bool root = opts.rootRank == getRank();
  const uint64_t bytes = bytes_of(tensors);
  wire::Op op{.kind = PRISM_COMM_REDUCE,
              .reduction = reduction_of(opts.reduceOp),
              .dtype = dtype_of(tensors),
              .peer = static_cast<int32_t>(opts.rootRank),
              .input_bytes = bytes,
              .output_bytes = root ? bytes : 0};
  return run(OpType::REDUCE, std::move(op), opts.asyncOp, tensors, [&](uint64_t, MadeUp& made_up) {
    if (root) {
      all_reduce(tensors, opts.reduceOp, made_up);
    }
  });
}

void LoneBackend::reduce_scatter(const at::Tensor& output, const at::Tensor& own,
                                 const c10d::ReduceOp& op, MadeUp& made_up) const {
  check_equal(own.numel(), output.numel(), "elements of a reduce-scatter's output");
  if (receive_by_rule(output, wire::kNoPeer, made_up)) {
    return;
  }
  spread(output, own);
  reduce_alike(output, op, members());
  made_up.echoed += alone() ? 0 : bytes_of(output);
}

WorkPtr LoneBackend::reduce_scatter(Tensors& outputs, std::vector<Tensors>& inputs,
                                    const c10d::ReduceScatterOptions& opts) {
  at::Tensor& output = only(outputs);
  Tensors& list = only(inputs);
  check_equal(static_cast<int64_t>(list.size()), members(), "inputs of a reduce-scatter");
  wire::Op op{.kind = PRISM_COMM_REDUCE_SCATTER,
              .reduction = reduction_of(opts.reduceOp),
              .dtype = dtype_of(outputs),
              .input_bytes = bytes_of(list),
              .output_bytes = bytes_of(output)};
  return run(OpType::REDUCE_SCATTER, std::move(op), opts.asyncOp, outputs,
             [&](uint64_t, MadeUp& made_up) {
               reduce_scatter(output, list[static_cast<size_t>(getRank())], opts.reduceOp, made_up);
             });
}

WorkPtr LoneBackend::_reduce_scatter_base(at::Tensor& output, at::Tensor& input,
                                          const c10d::ReduceScatterOptions& opts) {
  Tensors outputs{output};
  Tensors inputs{input};
  return reduce_scatter_tensor_coalesced(outputs, inputs, opts);
}

WorkPtr LoneBackend::reduce_scatter_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                                     const c10d::ReduceScatterOptions& opts) {
  check_equal(static_cast<int64_t>(inputs.size()), static_cast<int64_t>(outputs.size()),
              "inputs of a reduce-scatter");
  for (size_t i = 0; i < outputs.size(); ++i) {
    check_equal(inputs[i].numel(), outputs[i].numel() * members(),
                "elements of a reduce-scatter's input");
  }
  wire::Op op{.kind = PRISM_COMM_REDUCE_SCATTER,
              .reduction = reduction_of(opts.reduceOp),
              .dtype = dtype_of(outputs),
              .input_bytes = bytes_of(inputs),
              .output_bytes = bytes_of(outputs)};
  return run(OpType::_REDUCE_SCATTER_BASE, std::move(op), opts.asyncOp, outputs,
             [&](uint64_t, MadeUp& made_up) {
               for (size_t i = 0; i < outputs.size(); ++i) {
                 const at::Tensor flat = inputs[i].reshape({-1});
                 const int64_t elements = outputs[i].numel();
                 reduce_scatter(outputs[i], flat.narrow(0, getRank() * elements, elements),
                                opts.reduceOp, made_up);
               }
             });
}

// Gathering and distributing

void LoneBackend::all_gather(at::TensorList outputs, const at::Tensor& input,
                             MadeUp& made_up) const {
  for (const at::Tensor& output : outputs) {
    if (input.numel() == 0) {
      fill(output, 0);
      made_up.filled += bytes_of(output);
    } else {
      spread(output, input);
      made_up.echoed += bytes_of(output);
    }
  }
  // This rank's own part is no echo.
  made_up.echoed -= std::min(made_up.echoed, bytes_of(input));
  if (Sources::get().any()) {
    gather_by_rule(outputs, input, made_up);
  }
}

void LoneBackend::gather_by_rule(at::TensorList outputs, const at::Tensor& input,
                                 MadeUp& made_up) const {
  Tensors parts = outputs.vec();
  at::Tensor whole;
  if (static_cast<int64_t>(parts.size()) != members()) {
    whole = parts[0].contiguous();
    std::vector<int64_t> sizes{members()};
    sizes.insert(sizes.end(), input.sizes().begin(), input.sizes().end());
    parts = whole.view(sizes).unbind();
  }
  uint64_t& made_so_far = input.numel() == 0 ? made_up.filled : made_up.echoed;
  for (int64_t position = 0; position < members(); ++position) {
    const at::Tensor& part = parts[static_cast<size_t>(position)];
    if (position != getRank() && receive_by_rule(part, position, made_up)) {
      made_so_far -= std::min(made_so_far, bytes_of(part));
    }
  }
  if (whole.defined() && !whole.is_same(outputs[0])) {
    outputs[0].copy_(whole);
  }
}

WorkPtr LoneBackend::allgather(std::vector<Tensors>& outputs, Tensors& inputs,
                               const c10d::AllgatherOptions& opts) {
  only(inputs);
  only(outputs);
  return allgather_coalesced(outputs, inputs, opts);
}

WorkPtr LoneBackend::allgather_coalesced(std::vector<Tensors>& outputs, Tensors& inputs,
                                         const c10d::AllgatherOptions& opts) {
  // Outputs come as one list per input from allgather, as one list per member otherwise.
  const bool per_member =
      outputs.size() != inputs.size() || (outputs.size() > 1 && outputs[0].size() == inputs.size());
  std::vector<Tensors> lists = outputs;
  if (per_member) {
    lists.assign(inputs.size(), {});
    for (const Tensors& member : outputs) {
      check_equal(static_cast<int64_t>(member.size()), static_cast<int64_t>(inputs.size()),
                  "outputs per member of an all-gather");
      for (size_t i = 0; i < member.size(); ++i) {
        lists[i].push_back(member[i]);
      }
    }
  }
  for (const Tensors& list : lists) {
    check_equal(static_cast<int64_t>(list.size()), members(), "outputs of an all-gather");
  }
  Tensors all = concat(lists);
  wire::Op op{.kind = PRISM_COMM_ALL_GATHER,
              .dtype = dtype_of(inputs),
              .input_bytes = bytes_of(inputs),
              .output_bytes = bytes_of(all)};
  return run(OpType::ALLGATHER, std::move(op), opts.asyncOp, std::move(all),
             [&](uint64_t, MadeUp& made_up) {
               for (size_t i = 0; i < inputs.size(); ++i) {
                 all_gather(lists[i], inputs[i], made_up);
               }
             });
}

WorkPtr LoneBackend::_allgather_base(at::Tensor& output, at::Tensor& input,
                                     const c10d::AllgatherOptions& opts) {
  Tensors outputs{output};
  Tensors inputs{input};
  return allgather_into_tensor_coalesced(outputs, inputs, opts);
}

WorkPtr LoneBackend::allgather_into_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                                     const c10d::AllgatherOptions& opts) {
  check_equal(static_cast<int64_t>(inputs.size()), static_cast<int64_t>(outputs.size()),
              "inputs of an all-gather");
  for (size_t i = 0; i < outputs.size(); ++i) {
    check_equal(outputs[i].numel(), inputs[i].numel() * members(),
                "elements of an all-gather's output");
  }
  wire::Op op{.kind = PRISM_COMM_ALL_GATHER,
              .dtype = dtype_of(inputs),
              .input_bytes = bytes_of(inputs),
              .output_bytes = bytes_of(outputs)};
  return run(OpType::_ALLGATHER_BASE, std::move(op), opts.asyncOp, outputs,
             [&](uint64_t, MadeUp& made_up) {
               for (size_t i = 0; i < outputs.size(); ++i) {
                 if (outputs[i].numel() > 0) {
                   all_gather({outputs[i]}, inputs[i], made_up);
                 }
               }
             });
}

WorkPtr LoneBackend::gather(std::vector<Tensors>& outputs, Tensors& inputs,
                            const c10d::GatherOptions& opts) {
  check_position(opts.rootRank, "root");
  const bool root = opts.rootRank == getRank();
  at::Tensor& input = only(inputs);
  Tensors list;
  if (root) {
    list = only(outputs);
    check_equal(static_cast<int64_t>(list.size()), members(), "outputs of a gather");
  }
  wire::Op op{.kind = PRISM_COMM_GATHER,
              .dtype = dtype_of(inputs),
              .peer = static_cast<int32_t>(opts.rootRank),
              .input_bytes = bytes_of(input),
              .output_bytes = bytes_of(list)};
  return run(OpType::GATHER, std::move(op), opts.asyncOp, list, [&](uint64_t, MadeUp& made_up) {
    if (root) {
      all_gather(list, input, made_up);
    }
  });
}

WorkPtr LoneBackend::broadcast(Tensors& tensors, const c10d::BroadcastOptions& opts) {
  check_position(opts.rootRank, "root");
  const bool root = opts.rootRank == getRank();
  const uint64_t bytes = bytes_of(tensors);
  wire::Op op{.kind = PRISM_COMM_BROADCAST,
              .dtype = dtype_of(tensors),
              .peer = static_cast<int32_t>(opts.rootRank),
              .input_bytes = root ? bytes : 0,
              .output_bytes = root ? 0 : bytes};
  return run(OpType::BROADCAST, std::move(op), opts.asyncOp, tensors,
             [&](uint64_t id, MadeUp& made_up) {
               for (const at::Tensor& tensor : tensors) {
                 if (!root) {
                   receive(tensor, opts.rootRank, id, made_up);
                 }
               }
             });
}

WorkPtr LoneBackend::scatter(Tensors& outputs, std::vector<Tensors>& inputs,
                             const c10d::ScatterOptions& opts) {
  check_position(opts.rootRank, "root");
  const bool root = opts.rootRank == getRank();
  at::Tensor& output = only(outputs);
  Tensors list;
  if (root) {
    list = only(inputs);
    check_equal(static_cast<int64_t>(list.size()), members(), "inputs of a scatter");
  }
  wire::Op op{.kind = PRISM_COMM_SCATTER,
              .dtype = dtype_of(outputs),
              .peer = static_cast<int32_t>(opts.rootRank),
              .input_bytes = bytes_of(list),
              .output_bytes = bytes_of(output)};
  return run(OpType::SCATTER, std::move(op), opts.asyncOp, outputs,
             [&](uint64_t id, MadeUp& made_up) {
               if (!root) {
                 receive(output, opts.rootRank, id, made_up);
                 return;
               }
               const at::Tensor& own = list[static_cast<size_t>(getRank())];
               check_equal(own.numel(), output.numel(), "elements of a scatter's output");
               spread(output, own);
             });
}

// All-to-all

void LoneBackend::all_to_all(at::TensorList outputs, at::TensorList inputs, uint64_t op,
                             MadeUp& made_up) const {
  at::TensorList::const_iterator longest = std::max_element(
      inputs.begin(), inputs.end(),
      [](const at::Tensor& a, const at::Tensor& b) { return a.numel() < b.numel(); });
  for (size_t i = 0; i < outputs.size(); ++i) {
    const at::Tensor& output = outputs[i];
    const bool own = i == static_cast<size_t>(getRank());
    if (own && inputs[i].numel() == output.numel()) {
      spread(output, inputs[i]);
    } else if (!own && receive_by_rule(output, static_cast<int64_t>(i), made_up)) {
      continue;
    } else if (longest->numel() > 0) {
      spread(output, inputs[i].numel() > 0 ? inputs[i] : *longest);
      made_up.echoed += bytes_of(output);
    } else {
      receive(output, static_cast<int64_t>(i), op, made_up);
    }
  }
}

WorkPtr LoneBackend::alltoall_base(at::Tensor& output, at::Tensor& input,
                                   std::vector<int64_t>& output_splits,
                                   std::vector<int64_t>& input_splits,
                                   const c10d::AllToAllOptions& opts) {
  Tensors outputs = split_rows(output, output_splits, members());
  Tensors inputs = split_rows(input, input_splits, members());
  return alltoall(outputs, inputs, opts);
}

WorkPtr LoneBackend::alltoall(Tensors& outputs, Tensors& inputs,
                              const c10d::AllToAllOptions& opts) {
  check_equal(static_cast<int64_t>(outputs.size()), members(), "outputs of an all-to-all");
  check_equal(static_cast<int64_t>(inputs.size()), members(), "inputs of an all-to-all");
  wire::Op op{.kind = PRISM_COMM_ALL_TO_ALL,
              .dtype = dtype_of(inputs),
              .input_bytes = bytes_of(inputs),
              .output_bytes = bytes_of(outputs),
              .send_bytes = bytes_each(inputs),
              .recv_bytes = bytes_each(outputs)};
  return run(OpType::ALLTOALL, std::move(op), opts.asyncOp, outputs,
             [&](uint64_t id, MadeUp& made_up) { all_to_all(outputs, inputs, id, made_up); });
}

// Messages

WorkPtr LoneBackend::send(Tensors& tensors, int peer, int tag) {
  check_position(peer, "peer");
  wire::Op op{.kind = PRISM_COMM_SEND,
              .dtype = dtype_of(tensors),
              .peer = peer,
              .tag = tag,
              .input_bytes = bytes_of(tensors)};
  return run(OpType::SEND, std::move(op), true, tensors, [](uint64_t, MadeUp&) {});
}

WorkPtr LoneBackend::recv(Tensors& tensors, int peer, int tag) {
  check_position(peer, "peer");
  wire::Op op{.kind = PRISM_COMM_RECV,
              .dtype = dtype_of(tensors),
              .peer = peer,
              .tag = tag,
              .output_bytes = bytes_of(tensors)};
  return run(
      OpType::RECV, std::move(op), true, tensors,
      [&](uint64_t id, MadeUp& made_up) {
        for (const at::Tensor& tensor : tensors) {
          receive(tensor, peer, id, made_up);
        }
      },
      peer);
}

WorkPtr LoneBackend::recvAnysource(Tensors& tensors, int tag) {
  wire::Op op{.kind = PRISM_COMM_RECV,
              .dtype = dtype_of(tensors),
              .peer = wire::kAnySource,
              .tag = tag,
              .output_bytes = bytes_of(tensors)};
  return run(
      OpType::RECVANYSOURCE, std::move(op), true, tensors,
      [&](uint64_t id, MadeUp& made_up) {
        for (const at::Tensor& tensor : tensors) {
          receive(tensor, wire::kNoPeer, id, made_up);
        }
      },
      static_cast<int>((getRank() + 1) % members()));
}

// Barriers

WorkPtr LoneBackend::barrier(const c10d::BarrierOptions& opts) {
  return run(OpType::BARRIER, {.kind = PRISM_COMM_BARRIER}, opts.asyncOp, {},
             [](uint64_t, MadeUp&) {});
}

void LoneBackend::monitoredBarrier(const c10d::BarrierOptions& /*opts*/, bool /*wait_all_ranks*/) {
  run(OpType::BARRIER, {.kind = PRISM_COMM_BARRIER}, false, {}, [](uint64_t, MadeUp&) {});
}

}  // namespace prism::torch_agent
