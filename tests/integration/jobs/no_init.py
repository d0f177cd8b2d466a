# SPDX-License-Identifier: Apache-2.0
# Computes and never calls init_process_group. Expected: a message that no communication was seen.
import torch

weights = torch.ones(64, 64)
for step in range(4):
    weights = weights @ weights / 64
print(f"sum {weights.sum().item():.0f}")
