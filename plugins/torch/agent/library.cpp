// SPDX-License-Identifier: Apache-2.0
/// What the hook calls, as torch.ops.prism: an operator library needs no symbol of Python, so that
/// one agent serves every version of it.
#include <sys/mman.h>
#include <sys/stat.h>
#include <torch/library.h>
#include <unistd.h>
#include <utility>

#include "plugins/torch/agent/backend.hpp"
#include "plugins/torch/agent/router.hpp"
#include "plugins/torch/agent/session.hpp"
#include "prism/host/call_notes.hpp"

namespace prism::torch_agent {
namespace {

std::vector<uint32_t> to_ranks(const std::vector<int64_t>& numbers) {
  std::vector<uint32_t> ranks;
  ranks.reserve(numbers.size());
  for (const int64_t number : numbers) {
    TORCH_CHECK(number >= 0 && number <= UINT32_MAX, "no rank: ", number);
    ranks.push_back(static_cast<uint32_t>(number));
  }
  return ranks;
}

/// `fd`: memory that the coordinator reads when this process has ended.
void keep_call_notes(int64_t number) {
  const int fd = static_cast<int>(number);
  struct stat info {};
  if (::fstat(fd, &info) != 0 || info.st_size != static_cast<off_t>(sizeof(host::CallNotes))) {
    return;  // the program has closed it: calls are not noted
  }
  void* memory =
      ::mmap(nullptr, sizeof(host::CallNotes), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  ::close(fd);
  if (memory != MAP_FAILED) {
    host::keep_call_notes(static_cast<host::CallNotes*>(memory));
  }
}

void begin(int64_t fd, int64_t rank, int64_t world_size, std::string framework) {
  Session::get().begin(static_cast<int>(fd), static_cast<uint32_t>(rank),
                       static_cast<uint32_t>(world_size), std::move(framework));
}

/// Makes the communicator and hands it over inside `carrier`, a ProcessGroup: a Backend as such
/// cannot pass through an operator.
void attach(const c10::intrusive_ptr<c10d::ProcessGroup>& carrier, std::string backend,
            int64_t rank, std::string name, std::string description,
            const std::vector<int64_t>& ranks) {
  TORCH_CHECK(rank >= 0 && rank < static_cast<int64_t>(ranks.size()), "no member of the group");
  carrier->setBackend(c10::kCPU, c10d::ProcessGroup::BackendType::CUSTOM,
                      c10::make_intrusive<LoneBackend>(
                          std::move(backend), static_cast<int>(rank),
                          GroupInfo{std::move(name), std::move(description), to_ranks(ranks)}));
}

void foreign_group(std::string backend, std::string name, std::string description,
                   const std::vector<int64_t>& ranks) {
  const Entry entry;
  Session::get().group({.member = 0,
                        .name = std::move(name),
                        .description = std::move(description),
                        .backend = std::move(backend),
                        .ranks = to_ranks(ranks),
                        .clocks = entry.entered()});
}

void mark(int64_t kind, std::string name) {
  const Entry entry;
  Session::get().tell(wire::Mark{
      .kind = static_cast<uint8_t>(kind), .name = std::move(name), .clocks = entry.entered()});
}

void made_up_store(int64_t bytes) {
  const Entry entry;
  Session::get().tell(wire::Done{.op = 0,
                                 .made_up = {{wire::kMadeUpStore, static_cast<uint64_t>(bytes)}},
                                 .clocks = entry.entered()});
}

void prepare_bye(int64_t reason, std::string detail, std::vector<std::string> files) {
  const Entry entry;
  Session::get().prepare_bye({.reason = static_cast<uint8_t>(reason),
                              .detail = std::move(detail),
                              .files = std::move(files),
                              .clocks = entry.entered()});
}

// The time that a router takes is no time of the program, whose gate it stands for.
bool router_available() {
  return RankRouter::get().available();
}
at::Tensor router_counts(int64_t tokens, int64_t experts, int64_t top_k, int64_t layer,
                         int64_t micro_batch) {
  const Entry entry;
  return RankRouter::get().counts({tokens, experts, top_k, layer, micro_batch});
}
at::Tensor router_received(int64_t tokens, int64_t experts, int64_t top_k, int64_t layer,
                           int64_t micro_batch, const std::vector<int64_t>& ranks) {
  const Entry entry;
  return RankRouter::get().received({tokens, experts, top_k, layer, micro_batch}, ranks);
}
at::Tensor router_assign(int64_t tokens, int64_t experts, int64_t top_k, int64_t layer,
                         int64_t micro_batch) {
  const Entry entry;
  return RankRouter::get().assign({tokens, experts, top_k, layer, micro_batch});
}
at::Tensor router_logits(int64_t tokens, int64_t experts, int64_t top_k, int64_t layer,
                         int64_t micro_batch, at::ScalarType dtype) {
  const Entry entry;
  return RankRouter::get().logits({tokens, experts, top_k, layer, micro_batch}, dtype);
}

}  // namespace
}  // namespace prism::torch_agent

TORCH_LIBRARY(prism, library) {
  namespace agent = prism::torch_agent;
  library.def("keep_call_notes", agent::keep_call_notes);
  library.def("begin", agent::begin);
  library.def("attach", agent::attach);
  library.def("foreign_group", agent::foreign_group);
  library.def("mark", agent::mark);
  library.def("made_up_store", agent::made_up_store);
  library.def("prepare_bye", agent::prepare_bye);
  library.def("expect", agent::expect);
  library.def("keep", agent::keep);
  library.def("router_available", agent::router_available);
  library.def("router_counts", agent::router_counts);
  library.def("router_received", agent::router_received);
  library.def("router_assign", agent::router_assign);
  library.def("router_logits", agent::router_logits);
}
