# SPDX-License-Identifier: Apache-2.0
"""The router plugin of the experiment ([plugins] router), for a hook that puts it in the place of a
trained gate; see docs/made-up-values.md.

    import prism_router

    router = prism_router.Router()
    logits = router.logits(tokens=4096, experts=64, top_k=2, layer=3)

Only a rank that Prism runs has a router. The same arguments give the same numbers, on every machine;
what cannot be routed (top_k above experts) raises RuntimeError.
"""

import torch
import torch.distributed as dist


def available():
    """Whether this process is a rank of Prism whose experiment names a router."""
    return hasattr(torch.ops.prism, "router_available") and torch.ops.prism.router_available()


class Router:
    """`tokens`: of this rank, in this micro-batch. `layer`: 0, 1, ... among the layers with experts.
    Equal `micro_batch` means equal routing."""

    def __init__(self):
        if not available():
            raise RuntimeError("there is no router: set [plugins] router in the experiment file")

    def counts(self, tokens, experts, top_k, *, layer=0, micro_batch=0):
        """How many tokens each expert gets: int64 [experts], their sum tokens * top_k."""
        return torch.ops.prism.router_counts(tokens, experts, top_k, layer, micro_batch)

    def received(self, tokens, experts, top_k, *, layer=0, micro_batch=0, ranks=None):
        """How many tokens each rank sends to each expert of this one: int64 [ranks, experts / ranks].
        `ranks`: those that share the experts, in the order in which they hold them, as many each; by
        default all of the job. Each of them has `tokens` of its own."""
        ranks = range(dist.get_world_size()) if ranks is None else ranks
        return torch.ops.prism.router_received(tokens, experts, top_k, layer, micro_batch, list(ranks))

    def assign(self, tokens, experts, top_k, *, layer=0, micro_batch=0):
        """The experts of each token, the one with the highest weight first: int64 [tokens, top_k]."""
        return torch.ops.prism.router_assign(tokens, experts, top_k, layer, micro_batch)

    def logits(self, tokens, experts, top_k, *, layer=0, micro_batch=0, dtype=torch.float32):
        """Logits that a top-k gate turns into assign(): `dtype` (float32 or bfloat16) [tokens,
        experts], on the CPU."""
        return torch.ops.prism.router_logits(tokens, experts, top_k, layer, micro_batch, dtype)
