# SPDX-License-Identifier: Apache-2.0
# Feeds itself from a DataLoader with two worker processes, which are forked after init. Expected: runs to its end; no
# worker is taken for a rank and none is left behind, also when the run is killed (--steps large).
import argparse

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, Dataset


class Squares(Dataset):
    def __init__(self, length):
        self.length = length

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        return torch.full((8,), float(index % 10))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=6)
    args = parser.parse_args()
    dist.init_process_group("gloo")
    model = torch.nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    for batch in DataLoader(Squares(4 * args.steps), batch_size=4, num_workers=2):
        optimizer.zero_grad()
        model(batch).square().mean().backward()
        for parameter in model.parameters():
            dist.all_reduce(parameter.grad)
        optimizer.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
