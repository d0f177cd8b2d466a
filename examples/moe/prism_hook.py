# SPDX-License-Identifier: Apache-2.0
"""Puts the router plugin of the experiment in the place of the gates of train.py; their gradients stay."""

import prism_router
from torch.nn.modules.module import register_module_forward_hook

router = prism_router.Router()
layer_of = {}  # gate -> 0, 1, ...


def replace(module, args, logits):
    if type(module).__name__ == "Gate":
        layer = layer_of.setdefault(module, len(layer_of))
        wanted = router.logits(*logits.shape, module.top_k, layer=layer)  # alike in all steps
        return wanted + (logits - logits.detach())


register_module_forward_hook(replace)
