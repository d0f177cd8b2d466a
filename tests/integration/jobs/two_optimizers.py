# SPDX-License-Identifier: Apache-2.0
# Two models with an optimizer each, stepped at different places of an iteration, as in adversarial training. Expected:
# six iterations, not twelve: one ends at the last optimizer step before the next forward of the root module.
import torch
import torch.distributed as dist


def reduce_and_step(model, optimizer):
    for parameter in model.parameters():
        dist.all_reduce(parameter.grad)
    optimizer.step()


dist.init_process_group("gloo")
maker, judge = torch.nn.Linear(16, 16), torch.nn.Linear(16, 1)
maker_optimizer = torch.optim.Adam(maker.parameters())
judge_optimizer = torch.optim.SGD(judge.parameters(), lr=0.01)
for step in range(6):
    made = maker(torch.randn(8, 16))
    judge_optimizer.zero_grad()
    judge(made.detach()).mean().backward()
    reduce_and_step(judge, judge_optimizer)
    maker_optimizer.zero_grad()
    (-judge(made).mean()).backward()
    reduce_and_step(maker, maker_optimizer)
dist.destroy_process_group()
