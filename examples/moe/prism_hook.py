# SPDX-License-Identifier: Apache-2.0
"""Puts the router plugin of the experiment in the place of the gates of train.py, whose gradients stay, and of what
their absent peers would have said about the tokens that they send."""

from collections import Counter

import prism_router
from torch.nn.modules.module import register_module_forward_hook

router = prism_router.Router()
calls = Counter()  # of each gate, in the order of the layers
request = {}


def replace(module, args, output):
    if type(module).__name__ == "Gate":
        calls[module] += 1
        request.update(tokens=len(output), experts=output.shape[1], top_k=module.top_k,
                       layer=list(calls).index(module), micro_batch=calls[module] - 1)
        return router.logits(**request) + (output - output.detach())
    if type(module).__name__ == "Counts":  # of the gate before it
        return router.received(**request)


register_module_forward_hook(replace)
