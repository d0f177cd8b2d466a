# SPDX-License-Identifier: Apache-2.0
"""Trains a small GPT with FSDP2 (fully_shard on every block and on the root) and AdamW on synthetic text.

The first dimension of every parameter is what FSDP2 divides among the ranks. With the default sizes each of them is a
multiple of 1,024, so that every rank of a world of up to 1,024 holds an equal part.

    torchrun --standalone --nproc-per-node 2 examples/fsdp2/train.py --steps 10
"""

import argparse
import gc

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import fully_shard
from torch.nn import functional


class GPT(nn.Module):
    def __init__(self, vocab: int, hidden: int, heads: int, layers: int, positions: int):
        super().__init__()
        self.tokens = nn.Embedding(vocab, hidden)
        self.positions = nn.Embedding(positions, hidden)
        self.blocks = nn.ModuleList(
            nn.TransformerEncoderLayer(
                hidden, heads, hidden, dropout=0.0, activation="gelu", batch_first=True, norm_first=True
            )
            for _ in range(layers)
        )
        self.norm = nn.LayerNorm(hidden)
        self.head = nn.Linear(hidden, vocab, bias=False)

    def forward(self, tokens):
        length = tokens.shape[1]
        mask = nn.Transformer.generate_square_subsequent_mask(length)
        x = self.tokens(tokens) + self.positions.weight[:length]
        for block in self.blocks:
            x = block(x, src_mask=mask, is_causal=True)
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
    parser.add_argument("--hidden", type=int, default=1024)
    parser.add_argument("--heads", type=int, default=8)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--positions", type=int, default=1024, help="longest sequence that the model has weights for")
    parser.add_argument("--sequence", type=int, default=32)
    parser.add_argument("--batch", type=int, default=1, help="sequences per rank")
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()

    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(args.seed)  # every rank starts from the same weights
    model = GPT(args.vocab, args.hidden, args.heads, args.layers, args.positions)
    mesh = dist.init_device_mesh("cpu", (dist.get_world_size(),))
    for block in model.blocks:
        fully_shard(block, mesh=mesh)
    fully_shard(model, mesh=mesh)
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
