"""Writes what PyTorch makes of a student's and a teacher's rows on one frozen head: KL of each row, their weighted sum, and
the gradient of the student's rows.

python3 distillation.py DIR      writes distillation.safetensors

The second half of the teacher's rows is thirty times as long, so that almost all probability lies on one word; some rows
have no weight.
"""

import sys

import torch
from safetensors.torch import save_file
from torch.nn import functional

torch.manual_seed(20261130)
ROWS, HIDDEN, VOCAB = 10, 24, 67

x = torch.randn(ROWS, HIDDEN, requires_grad=True)
teacher = torch.randn(ROWS, HIDDEN)
teacher[ROWS // 2 :] *= 30
weight = torch.randn(VOCAB, HIDDEN) / HIDDEN**0.5
weights = torch.rand(ROWS)
weights[::4] = 0

q, p = (functional.log_softmax(rows @ weight.T, dim=-1) for rows in (x, teacher))
row_losses = functional.kl_div(q, p, reduction="none", log_target=True).sum(-1)
loss = (weights * row_losses).sum()
loss.backward()

made = {"x": x.detach(), "teacher": teacher, "weight": weight, "weights": weights}
made |= {"row_losses": row_losses.detach(), "loss": loss.detach(), "dx": x.grad, "predictions": q.argmax(-1).int()}
save_file(made, f"{sys.argv[1]}/distillation.safetensors")
