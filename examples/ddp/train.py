# SPDX-License-Identifier: Apache-2.0
"""Trains a small GPT with DistributedDataParallel and AdamW on synthetic text.

    torchrun --standalone --nproc-per-node 2 examples/ddp/train.py --steps 10
"""

import argparse
import gc

import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional
from torch.nn.parallel import DistributedDataParallel


class GPT(nn.Module):
    def __init__(self, vocab: int, hidden: int, heads: int, layers: int, sequence: int):
        super().__init__()
        self.tokens = nn.Embedding(vocab, hidden)
        self.positions = nn.Embedding(sequence, hidden)
        self.blocks = nn.ModuleList(
            nn.TransformerEncoderLayer(
                hidden, heads, 4 * hidden, dropout=0.0, activation="gelu", batch_first=True, norm_first=True
            )
            for _ in range(layers)
        )
        self.norm = nn.LayerNorm(hidden)
        self.head = nn.Linear(hidden, vocab, bias=False)
        self.register_buffer("mask", nn.Transformer.generate_square_subsequent_mask(sequence))

    def forward(self, tokens):
        x = self.tokens(tokens) + self.positions.weight
        for block in self.blocks:
            x = block(x, src_mask=self.mask, is_causal=True)
        return self.head(self.norm(x))


def batches(args, rank: int):
    """Sequences that count upwards in a circle from a random start: easy to learn, different on every rank."""
    generator = torch.Generator().manual_seed(args.seed + rank)
    while True:
        start = torch.randint(args.sequence, (args.batch, 1), generator=generator)
        yield (start + torch.arange(args.sequence + 1)) % args.sequence


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--vocab", type=int, default=1024)
    parser.add_argument("--hidden", type=int, default=256)
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--sequence", type=int, default=64)
    parser.add_argument("--batch", type=int, default=4, help="sequences per rank")
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()

    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(args.seed)  # every rank starts from the same weights
    model = DistributedDataParallel(GPT(args.vocab, args.hidden, args.heads, args.layers, args.sequence))
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)

    for step, batch in zip(range(args.steps), batches(args, rank)):
        logits = model(batch[:, :-1])
        loss = functional.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if rank == 0:
            print(f"step {step} loss {loss.item():.4f}", flush=True)

    # gloo aborts at exit when tensors or handles of a communication outlive its process group.
    del model, optimizer, logits, loss
    gc.collect()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
