# SPDX-License-Identifier: Apache-2.0
# A well-behaved job, the smallest one: six steps of an all-reduced linear model. --steps, --hidden and --sleep make it
# longer, larger and slower; for tests of interruption, resuming and accounting.
import argparse
import time

import torch
import torch.distributed as dist

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=6)
parser.add_argument("--hidden", type=int, default=64)
parser.add_argument("--sleep", type=float, default=0.0, help="seconds of idling in a step")
args = parser.parse_args()

dist.init_process_group("gloo")
torch.manual_seed(1)
model = torch.nn.Linear(args.hidden, args.hidden)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(args.steps):
    loss = model(torch.randn(8, args.hidden)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    for parameter in model.parameters():
        dist.all_reduce(parameter.grad)
        parameter.grad /= dist.get_world_size()
    optimizer.step()
    time.sleep(args.sleep)
    if dist.get_rank() == 0:
        print(f"step {step} loss {loss.item():.4f}", flush=True)
dist.destroy_process_group()
