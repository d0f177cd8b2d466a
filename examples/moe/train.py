# SPDX-License-Identifier: Apache-2.0
"""Trains a small transformer whose feed-forward layers are mixtures of experts: each rank holds some of the experts,
and the tokens travel to theirs and back through all-to-all.

    torchrun --standalone --nproc-per-node 2 examples/moe/train.py --steps 10

Only torch is needed. Under Prism a hook (prism_hook.py) lets a router plugin take the place of the trained gate.
"""

import argparse

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.nn.functional import all_to_all_single
from torch.nn import functional


class Gate(nn.Linear):
    """Logits of the experts for each token, [tokens, experts]."""

    def __init__(self, hidden: int, experts: int, top_k: int):
        super().__init__(hidden, experts, bias=False)
        self.top_k = top_k


class Counts(nn.Module):
    """How many tokens each rank sends to each expert of this one, [ranks, experts of a rank], from
    how many this rank sends to each expert of the layer."""

    def forward(self, sent):
        received = torch.empty_like(sent)
        dist.all_to_all_single(received, sent)
        return received.view(dist.get_world_size(), -1)


class Experts(nn.Module):
    """The feed-forward networks of this rank."""

    def __init__(self, count: int, hidden: int):
        super().__init__()
        self.up = nn.Parameter(torch.randn(count, hidden, 4 * hidden) / hidden**0.5)
        self.down = nn.Parameter(torch.randn(count, 4 * hidden, hidden) / (4 * hidden) ** 0.5)

    def forward(self, tokens, expert_of_token):
        out = torch.zeros_like(tokens)
        for expert in range(len(self.up)):
            mine = (expert_of_token == expert).nonzero().flatten()
            out = out.index_copy(0, mine, functional.gelu(tokens[mine] @ self.up[expert]) @ self.down[expert])
        return out


class MixtureOfExperts(nn.Module):
    def __init__(self, hidden: int, experts: int, top_k: int):
        super().__init__()
        self.gate = Gate(hidden, experts, top_k)
        self.counts = Counts()
        self.experts = Experts(experts // dist.get_world_size(), hidden)

    def forward(self, tokens):
        ranks = dist.get_world_size()
        top_k = self.gate.top_k
        weights, chosen = self.gate(tokens).softmax(-1).topk(top_k)

        # Sorted by expert, which is by rank too. First how many tokens go where, then the tokens.
        order = chosen.flatten().argsort(stable=True)
        token_of = order // top_k
        sent = chosen.flatten().bincount(minlength=self.gate.out_features)
        received = self.counts(sent)
        to_ranks = sent.view(ranks, -1).sum(1).tolist()
        from_ranks = received.sum(1).tolist()
        arrived = all_to_all_single(
            tokens.new_empty(sum(from_ranks), tokens.shape[1]), tokens[token_of], from_ranks, to_ranks
        )

        local = torch.arange(received.numel()) % len(self.experts.up)
        done = self.experts(arrived, local.repeat_interleave(received.flatten()))
        back = all_to_all_single(torch.empty_like(tokens[token_of]), done, to_ranks, from_ranks)
        return torch.zeros_like(tokens).index_add(0, token_of, back * weights.flatten()[order].unsqueeze(1))


class Block(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.attention = nn.MultiheadAttention(args.hidden, args.heads, batch_first=True)
        self.norms = nn.ModuleList(nn.LayerNorm(args.hidden) for _ in range(2))
        self.mixture = MixtureOfExperts(args.hidden, args.experts, args.top_k)

    def forward(self, x, mask):
        y = self.norms[0](x)
        x = x + self.attention(y, y, y, attn_mask=mask, is_causal=True, need_weights=False)[0]
        return x + self.mixture(self.norms[1](x).flatten(0, 1)).view_as(x)


class Model(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.tokens = nn.Embedding(args.vocab, args.hidden)
        self.blocks = nn.ModuleList(Block(args) for _ in range(args.layers))
        self.head = nn.Linear(args.hidden, args.vocab, bias=False)

    def forward(self, tokens):
        mask = nn.Transformer.generate_square_subsequent_mask(tokens.shape[1])
        x = self.tokens(tokens)
        for block in self.blocks:
            x = block(x, mask)
        return self.head(x)


def batches(args, rank: int):
    """Sequences that count upwards in a circle from a random start: easy to learn, different on every rank."""
    generator = torch.Generator().manual_seed(args.seed + rank)
    while True:
        start = torch.randint(args.vocab, (args.batch, 1), generator=generator)
        yield (start + torch.arange(args.sequence + 1)) % args.vocab


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--vocab", type=int, default=512)
    parser.add_argument("--hidden", type=int, default=128)
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--experts", type=int, default=64, help="of a layer, on all ranks together")
    parser.add_argument("--top-k", type=int, default=2)
    parser.add_argument("--sequence", type=int, default=128)
    parser.add_argument("--batch", type=int, default=4, help="sequences per rank")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()

    dist.init_process_group("gloo")
    rank, ranks = dist.get_rank(), dist.get_world_size()
    if args.experts % ranks:
        parser.error(f"--experts must be a multiple of the {ranks} ranks")
    torch.manual_seed(args.seed)
    model = Model(args)
    own = {p for m in model.modules() if isinstance(m, Experts) for p in m.parameters()}
    shared = [p for p in model.parameters() if p not in own]
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    data = batches(args, rank)

    for step in range(args.steps):
        batch = next(data)
        logits = model(batch[:, :-1])
        loss = functional.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())
        loss.backward()
        for parameter in shared:
            dist.all_reduce(parameter.grad)
        for parameter in model.parameters():
            parameter.grad /= ranks  # experts have gathered theirs from all ranks' tokens
        optimizer.step()
        optimizer.zero_grad()
        if rank == 0:
            print(f"step {step} loss {loss.item():.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
