"""Writes what PyTorch makes of single ops: inputs, value y, the value's gradient dy and the inputs' gradients, by `op/name`.

python3 ops.py DIR      writes ops.safetensors

Attention has as many query heads a key head as its name says; `bounds` are two intervals of keys for each query, of which the
first sees one token. A row of the cross-entropy has no weight.
"""

import sys

import torch
from safetensors.torch import save_file
from torch.nn import functional

torch.manual_seed(20261130)
made = {}


def case(name, inputs, compute, **constants):
    leaves = {key: value.clone().requires_grad_() for key, value in inputs.items()}
    y = compute(**leaves)
    dy = torch.randn_like(y) if y.dim() else torch.ones(())
    y.backward(dy)
    tensors = {**inputs, **constants, "y": y.detach(), "dy": dy} | {f"d{key}": leaf.grad for key, leaf in leaves.items()}
    made.update({f"{name}/{key}": value.clone(memory_format=torch.contiguous_format) for key, value in tensors.items()})


def draw(*shape):
    return torch.randn(*shape)


def rotated(x, cos, sin):
    first, second = x.chunk(2, dim=-1)
    cos, sin = (torch.cat((part, part), dim=-1)[:, None] for part in (cos, sin))
    return x * cos + torch.cat((-second, first), dim=-1) * sin


def attended(bounds, heads, groups):
    def compute(q, k, v):
        keys = torch.arange(k.shape[0])
        visible = sum((keys >= bounds[:, i, None]) & (keys < bounds[:, i + 1, None]) for i in (0, 2)).bool()
        q, k, v = (part.transpose(0, 1) for part in (q, k, v))
        k, v = (part.repeat_interleave(heads // groups, dim=0) for part in (k, v))
        return functional.scaled_dot_product_attention(q, k, v, attn_mask=visible).transpose(0, 1)

    return compute


ids = torch.tensor([3, 0, 3, 7, 1], dtype=torch.int32)
case("embedding", {"table": draw(9, 13)}, lambda table: functional.embedding(ids, table), integers=ids)
case("rmsNorm", {"x": draw(7, 3, 24), "weight": draw(24)}, lambda x, weight: functional.rms_norm(x, (24,), weight, 1e-6))
case("linear", {"x": draw(11, 35), "weight": draw(29, 35), "bias": draw(29)}, functional.linear)
case("swiglu", {"gate": 3 * draw(9, 37), "up": draw(9, 37)}, lambda gate, up: functional.silu(gate) * up)

positions = torch.tensor([5, 0, 30, 5], dtype=torch.int32)
angles = torch.arange(31)[:, None] * 10_000 ** (-torch.arange(6) / 6)
cos, sin = angles.cos(), angles.sin()
rotate = lambda x: rotated(x, cos[positions], sin[positions])
case("rotary", {"x": draw(4, 3, 12)}, rotate, integers=positions, cos=cos, sin=sin)

bounds = torch.randint(0, 16, (10, 4), dtype=torch.int32).sort(dim=-1).values
bounds[:, 3] += 1
bounds[0] = torch.tensor([4, 5, 16, 16])
for heads, groups in ((2, 2), (4, 1), (16, 2)):
    inputs = {"q": draw(10, heads, 8), "k": draw(16, groups, 8), "v": draw(16, groups, 8)}
    case(f"attention {heads // groups}:1", inputs, attended(bounds, heads, groups), integers=bounds)

labels = torch.randint(0, 37, (9,), dtype=torch.int32)
weights = torch.rand(9)
weights[4] = 0
entropy = lambda x, weight: weights @ functional.cross_entropy(x @ weight.T, labels.long(), reduction="none")
case("linearCrossEntropy", {"x": draw(9, 20), "weight": draw(37, 20)}, entropy, integers=labels, weights=weights)

save_file(made, f"{sys.argv[1]}/ops.safetensors")
