"""The default training step in PyTorch: for every line of standard input a step, answered with its wall and CPU time in ms.

The arguments are a list of batches, each the boundaries of its packed rows, the number of threads, and where they are given
`eager` attention in place of `sdpa` and the device. Weights and tokens are random: only time is compared.
"""

import json
import sys
import time

import torch
import torch.nn.functional as F

HIDDEN, INNER, VOCABULARY, HEADS, KV_HEADS, HEAD_DIM = 256, 768, 4096, 8, 4, 32
TARGET_LAYERS, CAPTURED, DRAFTER_LAYERS, BLOCK, ANCHORS = 6, 5, 2, 8, 32
attention, device = (sys.argv[3:] + ["sdpa", "cpu"][len(sys.argv[3:]):])
torch.set_default_device(device)
torch.manual_seed(0)
torch.set_num_threads(int(sys.argv[2]))


def parameters(**shapes):
    return {name: torch.nn.Parameter(torch.randn(shape) * 0.02) for name, shape in shapes.items()}


def layer_parameters():
    norms = {name: torch.nn.Parameter(torch.ones(size)) for name, size in
             [("input_norm", HIDDEN), ("mlp_norm", HIDDEN), ("q_norm", HEAD_DIM), ("k_norm", HEAD_DIM)]}
    return norms | parameters(
        q=(HEADS * HEAD_DIM, HIDDEN), k=(KV_HEADS * HEAD_DIM, HIDDEN), v=(KV_HEADS * HEAD_DIM, HIDDEN),
        o=(HIDDEN, HEADS * HEAD_DIM), gate=(INNER, HIDDEN), up=(INNER, HIDDEN), down=(HIDDEN, INNER))


def norm(x, weight):
    return F.rms_norm(x, weight.shape, weight, 1e-6)


frequencies = 10000.0 ** (-torch.arange(0, HEAD_DIM, 2) / HEAD_DIM)


def rotate(x, positions):
    angles = torch.outer(positions, frequencies)
    cos, sin = angles.cos()[:, None], angles.sin()[:, None]
    a, b = x.chunk(2, -1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)


def keys_values(p, x, positions):
    k = rotate(norm(F.linear(x, p["k"]).view(-1, KV_HEADS, HEAD_DIM), p["k_norm"]), positions)
    return k, F.linear(x, p["v"]).view(-1, KV_HEADS, HEAD_DIM)


def attend(q, k, v, visible):
    if attention == "sdpa":
        return F.scaled_dot_product_attention(q, k, v, attn_mask=visible, enable_gqa=True)
    k, v = (x.repeat_interleave(HEADS // KV_HEADS, 1) for x in (k, v))
    scores = (q @ k.transpose(2, 3) * HEAD_DIM**-0.5).masked_fill(~visible, torch.finfo(torch.float32).min)
    return torch.softmax(scores, -1) @ v


def decoder_layer(p, hidden, positions, visible, context=None, context_positions=None):
    x = norm(hidden, p["input_norm"])
    q = rotate(norm(F.linear(x, p["q"]).view(-1, HEADS, HEAD_DIM), p["q_norm"]), positions)
    k, v = keys_values(p, x, positions)
    if context is not None:
        context_k, context_v = keys_values(p, context, context_positions)
        k, v = torch.cat([context_k, k]), torch.cat([context_v, v])
    y = attend(*(x.transpose(0, 1)[None] for x in (q, k, v)), visible)
    hidden = hidden + F.linear(y[0].transpose(0, 1).reshape(-1, HEADS * HEAD_DIM), p["o"])
    x = norm(hidden, p["mlp_norm"])
    return hidden + F.linear(F.silu(F.linear(x, p["gate"])) * F.linear(x, p["up"]), p["down"])


embedding = torch.randn(VOCABULARY, HIDDEN) * 0.02
target = [layer_parameters() for _ in range(TARGET_LAYERS)]
drafter = [layer_parameters() for _ in range(DRAFTER_LAYERS)]
top = parameters(fc=(HIDDEN, CAPTURED * HIDDEN)) | {
    name: torch.nn.Parameter(torch.ones(HIDDEN)) for name in ["hidden_norm", "norm"]}
trained = [p for part in [*drafter, top] for p in part.values()]
optimizer = torch.optim.AdamW(trained, lr=1e-4, weight_decay=0.0, fused=attention == "sdpa")


@torch.no_grad()
def target_features(ids, positions, rows):
    visible = (rows[:, None] == rows[None]) & (torch.arange(len(ids))[:, None] >= torch.arange(len(ids))[None])
    hidden, features = embedding[ids], []
    for index, p in enumerate(target):
        hidden = decoder_layer(p, hidden, positions, visible)
        if index >= TARGET_LAYERS - CAPTURED:
            features.append(hidden)
    return torch.cat(features, -1)


def step(row_starts):
    length = row_starts[-1]
    sizes = torch.tensor(row_starts).diff()
    rows = torch.repeat_interleave(torch.arange(len(sizes)), sizes)
    positions = torch.cat([torch.arange(size) for size in sizes.tolist()])
    ids = torch.randint(VOCABULARY, (length,))
    features = target_features(ids, positions.float(), rows)

    anchors = torch.cat([start + torch.randperm(size - BLOCK)[:ANCHORS].sort().values
                         for start, size in zip(row_starts, sizes.tolist())])
    slots = (anchors[:, None] + torch.arange(BLOCK)).flatten()
    block = torch.repeat_interleave(torch.arange(len(anchors)), BLOCK)
    start_of = torch.tensor(row_starts)[rows[anchors]][block]
    context = torch.arange(length)[None]
    visible = torch.cat([(context >= start_of[:, None]) & (context < anchors[block][:, None]),
                         block[:, None] == block[None]], 1)
    noise_ids = torch.where(slots == anchors[block], ids[slots], 3)

    context = norm(F.linear(features, top["fc"]), top["hidden_norm"])
    hidden = embedding[noise_ids]
    for p in drafter:
        hidden = decoder_layer(p, hidden, positions[slots].float(), visible, context, positions.float())
    hidden = norm(hidden, top["norm"])
    supervised = slots != anchors[block]
    logits = F.linear(hidden[supervised], embedding)
    loss = F.cross_entropy(logits, ids[slots[supervised]])
    matches = (logits.argmax(-1) == ids[slots[supervised]]).sum()
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(trained, 1.0)
    optimizer.step()
    return loss.item(), matches.item()


batches = json.loads(sys.argv[1])
for index, _ in enumerate(sys.stdin):
    start, cpu_start = time.perf_counter(), time.process_time()
    step(batches[index % len(batches)])
    wall, cpu = time.perf_counter() - start, time.process_time() - cpu_start
    print(json.dumps({"wall": wall * 1e3, "cpu": cpu * 1e3}), flush=True)
