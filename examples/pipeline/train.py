# SPDX-License-Identifier: Apache-2.0
"""Trains a stack of transformer blocks with a hand-written 1F1B pipeline and data parallelism.

The world is a grid of pp stages times dp replicas; rank = stage * dp + replica. A stage receives activations from the
stage before it and sends its own to the stage after it, and gradients flow the other way. After its last micro-batch
a stage averages its gradients over its replicas. All stages do the same work.

    torchrun --standalone --nproc-per-node 4 examples/pipeline/train.py --pp 2 --steps 10
"""

import argparse
import gc
from collections import deque

import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional


class Stage:
    """One stage on one rank: its blocks, its neighbours, and the exchange with them."""

    def __init__(self, args):
        world, rank = dist.get_world_size(), dist.get_rank()
        if world % args.pp:
            raise SystemExit(f"--pp {args.pp} does not divide the world size {world}")
        self.dp, self.count = world // args.pp, args.pp
        self.index, self.replica = divmod(rank, self.dp)
        self.before, self.after = rank - self.dp, rank + self.dp
        self.is_first, self.is_last = self.index == 0, self.index == self.count - 1
        for stage in range(self.count):  # every rank takes part in the creation of every group
            group = dist.new_group(range(stage * self.dp, (stage + 1) * self.dp))
            if stage == self.index:
                self.dp_group = group
        self.shape = (args.batch, args.sequence, args.hidden)
        torch.manual_seed(args.seed + self.index)  # the replicas of a stage start from the same weights
        self.blocks = nn.Sequential(*(
            nn.TransformerEncoderLayer(
                args.hidden, args.heads, 4 * args.hidden, dropout=0.0, batch_first=True, norm_first=True
            )
            for _ in range(args.layers)
        ))
        self.sends = []

    def send(self, tensor, peer):
        self.sends.append((dist.isend(tensor, peer), tensor))  # the tensor must live until the send is waited for

    def receive(self, peer):
        tensor = torch.empty(self.shape)
        dist.irecv(tensor, peer).wait()
        return tensor

    def forward(self, sample, micro_batches):
        """Runs one micro-batch; returns what its backward needs."""
        x = (sample if self.is_first else self.receive(self.before)).requires_grad_()
        y = self.blocks(x)
        if self.is_last:
            y = functional.mse_loss(y, sample.roll(1, dims=-1)) / micro_batches
        else:
            self.send(y.detach(), self.after)
        return x, y

    def backward(self, x, y):
        y.backward(None if self.is_last else self.receive(self.after))
        if not self.is_first:
            self.send(x.grad, self.before)

    def train_step(self, samples):
        """1F1B: a few forwards to fill the pipeline, then one forward and one backward in turn, then the rest."""
        warmup = min(self.count - self.index - 1, len(samples))
        started, loss = deque(), 0.0
        for position, sample in enumerate(samples):
            started.append(self.forward(sample, len(samples)))
            loss += started[-1][1].item() if self.is_last else 0.0
            if position >= warmup:
                self.backward(*started.popleft())
        while started:
            self.backward(*started.popleft())
        for work, _ in self.sends:
            work.wait()
        self.sends.clear()
        for parameter in self.blocks.parameters():
            dist.all_reduce(parameter.grad, group=self.dp_group)
            parameter.grad /= self.dp
        return loss


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--pp", type=int, default=2, help="number of stages")
    parser.add_argument("--micro-batches", type=int, default=8, help="per step and replica")
    parser.add_argument("--batch", type=int, default=2, help="sequences in a micro-batch")
    parser.add_argument("--sequence", type=int, default=64)
    parser.add_argument("--hidden", type=int, default=256)
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--layers", type=int, default=1, help="blocks in a stage")
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()

    dist.init_process_group("gloo")
    stage = Stage(args)
    optimizer = torch.optim.AdamW(stage.blocks.parameters(), lr=args.lr)
    # The first stage reads the inputs and the last one the targets made from them: both draw the same samples.
    generator = torch.Generator().manual_seed(args.seed + stage.replica)
    for step in range(args.steps):
        samples = torch.randn(args.micro_batches, *stage.shape, generator=generator).unbind()
        optimizer.zero_grad()
        loss = stage.train_step(samples)
        optimizer.step()
        if stage.is_last and stage.replica == 0:
            print(f"step {step} loss {loss:.4f}", flush=True)

    # gloo aborts at exit when tensors or handles of a communication outlive its process group.
    del stage, optimizer
    gc.collect()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
