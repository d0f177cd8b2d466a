// SPDX-License-Identifier: Apache-2.0
#include "tests/synthetic/schedule.hpp"

#include <algorithm>
#include <utility>

namespace prism::synthetic {
namespace {

class Actions {
 public:
  void forward(uint32_t micro_batch, uint32_t chunk) {
    all_.push_back({Action::Kind::Forward, micro_batch, chunk});
  }
  void backward(uint32_t micro_batch, uint32_t chunk) {
    all_.push_back({Action::Kind::Backward, micro_batch, chunk});
  }
  struct Messages {
    bool send_previous = false;
    bool receive_previous = false;
    bool send_next = false;
    bool receive_next = false;
  };
  void exchange(const Messages& m) {
    if (m.send_previous || m.receive_previous || m.send_next || m.receive_next) {
      all_.push_back({Action::Kind::Exchange, 0, 0, m.send_previous, m.receive_previous,
                      m.send_next, m.receive_next});
    }
  }
  std::vector<Action> take() && { return std::move(all_); }

 private:
  std::vector<Action> all_;
};

std::vector<Action> one_forward_one_backward(uint32_t stage, uint32_t stages,
                                             uint32_t micro_batches) {
  const bool previous = stage > 0;
  const bool next = stage + 1 < stages;
  const uint32_t warm_up = std::min(stages - stage - 1, micro_batches);
  const uint32_t steady = micro_batches - warm_up;
  Actions actions;
  for (uint32_t i = 0; i < warm_up; ++i) {
    actions.exchange({.receive_previous = previous});
    actions.forward(i, 0);
    actions.exchange({.send_next = next});
  }
  if (steady > 0) {
    actions.exchange({.receive_previous = previous});
  }
  for (uint32_t i = 0; i < steady; ++i) {
    actions.forward(warm_up + i, 0);
    actions.exchange({.send_next = next, .receive_next = next});
    actions.backward(i, 0);
    actions.exchange({.send_previous = previous, .receive_previous = previous && i + 1 < steady});
  }
  for (uint32_t i = steady; i < micro_batches; ++i) {
    actions.exchange({.receive_next = next});
    actions.backward(i, 0);
    actions.exchange({.send_previous = previous});
  }
  return std::move(actions).take();
}

/// Steps are numbered 0 .. micro_batches x chunks - 1, forwards and backwards each for themselves.
class Interleaved {
 public:
  Interleaved(uint32_t stage, uint32_t stages, uint32_t micro_batches, uint32_t chunks)
      : stages_(stages),
        chunks_(chunks),
        steps_(micro_batches * chunks),
        first_(stage == 0),
        last_(stage + 1 == stages),
        warm_up_(std::min(steps_, 2 * (stages - stage - 1) + (chunks - 1) * stages)) {}

  std::vector<Action> run() && {
    const bool all_warm_up = warm_up_ == steps_;
    actions_.exchange({.receive_previous = needs_activations(0)});
    for (uint32_t k = 0; k < warm_up_; ++k) {
      forward(k);
      const bool turn = k + 1 == warm_up_ && !all_warm_up;
      actions_.exchange({.receive_previous = needs_activations(k + 1),
                         .send_next = gives_activations(k),
                         .receive_next = turn && needs_gradients(0)});
    }
    for (uint32_t k = 0; k < steps_ - warm_up_; ++k) {
      forward(warm_up_ + k);
      backward(k);
      actions_.exchange({.send_previous = gives_gradients(k),
                         .receive_previous = needs_activations(warm_up_ + k + 1),
                         .send_next = gives_activations(warm_up_ + k),
                         .receive_next = needs_gradients(k + 1)});
    }
    if (all_warm_up) {
      actions_.exchange({.receive_next = needs_gradients(0)});
    }
    for (uint32_t k = steps_ - warm_up_; k < steps_; ++k) {
      backward(k);
      actions_.exchange(
          {.send_previous = gives_gradients(k), .receive_next = needs_gradients(k + 1)});
    }
    return std::move(actions_).take();
  }

 private:
  uint32_t micro_batch(uint32_t step) const {
    return step / (stages_ * chunks_) * stages_ + step % stages_;
  }
  uint32_t forward_chunk(uint32_t step) const { return step % (stages_ * chunks_) / stages_; }
  uint32_t backward_chunk(uint32_t step) const { return chunks_ - 1 - forward_chunk(step); }

  void forward(uint32_t step) { actions_.forward(micro_batch(step), forward_chunk(step)); }
  void backward(uint32_t step) { actions_.backward(micro_batch(step), backward_chunk(step)); }

  bool needs_activations(uint32_t step) const {
    return step < steps_ && !(first_ && forward_chunk(step) == 0);
  }
  bool gives_activations(uint32_t step) const {
    return !(last_ && forward_chunk(step) + 1 == chunks_);
  }
  bool needs_gradients(uint32_t step) const {
    return step < steps_ && !(last_ && backward_chunk(step) + 1 == chunks_);
  }
  bool gives_gradients(uint32_t step) const { return !(first_ && backward_chunk(step) == 0); }

  uint32_t stages_;
  uint32_t chunks_;
  uint32_t steps_;
  bool first_;
  bool last_;
  uint32_t warm_up_;
  Actions actions_;
};

}  // namespace

std::vector<Action> schedule_of(uint32_t stage, uint32_t stages, uint32_t micro_batches,
                                uint32_t chunks) {
  return chunks == 1 ? one_forward_one_backward(stage, stages, micro_batches)
                     : Interleaved(stage, stages, micro_batches, chunks).run();
}

}  // namespace prism::synthetic
