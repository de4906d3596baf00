"""The test model in PyTorch: for every line of standard input a training step, answered with its times in ms and its loss.

The arguments are `eager` or `sdpa` attention, the number of threads, and where it is given the device.
"""

import json, math, sys, time
import numpy as np
import torch
import torch.nn.functional as F

attention, threads, device = sys.argv[1], int(sys.argv[2]), (sys.argv[3:] or ["cpu"])[0]
torch.set_default_device(device)
torch.set_num_threads(threads)

L, D, H, KV, HD, FF, V, B, T, BLOCK = 4, 256, 4, 2, 64, 768, 4096, 8, 256, 16


def fraction(n, stream):
    value = np.sin((np.arange(n, dtype=np.float64) + 1) * 12.9898 + stream * 78.233) * 43758.5453
    return value - np.floor(value)


shapes = [("embed", (V, D))]
for layer in range(L):
    for name, shape in [("inputNorm", (D,)), ("query", (H * HD, D)), ("key", (KV * HD, D)), ("value", (KV * HD, D)),
                        ("output", (D, H * HD)), ("queryNorm", (HD,)), ("keyNorm", (HD,)), ("postNorm", (D,)),
                        ("gate", (FF, D)), ("up", (FF, D)), ("down", (D, FF))]:
        shapes.append((f"{layer}.{name}", shape))
shapes.append(("norm", (D,)))
P = {}
for which, (name, shape) in enumerate(shapes):
    if len(shape) == 1:
        value = torch.ones(shape)
    else:
        value = torch.tensor((0.07 * (fraction(math.prod(shape), which) - 0.5)).astype(np.float32)).reshape(shape)
    P[name] = torch.nn.Parameter(value)

ids = torch.tensor((V * fraction(B * T, 1000)).astype(np.int64)).reshape(B, T)
labels = torch.tensor((V * fraction(B * T, 1001)).astype(np.int64))
position = torch.arange(T)
document = position // (T // 2)
visible = (document[:, None] == document[None]) & (position[None] // BLOCK <= position[:, None] // BLOCK)
mask = torch.zeros(T, T).masked_fill(~visible, torch.finfo(torch.float32).min)[None, None]
angles = position[:, None] * 10000 ** (-torch.arange(0, HD, 2) / HD)
cos, sin = (torch.cat([f(angles)] * 2, -1)[None, None] for f in (torch.cos, torch.sin))


def rms(x, w):
    return w * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6))


def rotate(x):
    half = x.shape[-1] // 2
    return x * cos + torch.cat((-x[..., half:], x[..., :half]), -1) * sin


def block(layer, x):
    w = lambda name: P[f"{layer}.{name}"]
    a = rms(x, w("inputNorm"))
    q = rotate(rms(F.linear(a, w("query")).view(B, T, H, HD), w("queryNorm")).transpose(1, 2))
    k = rotate(rms(F.linear(a, w("key")).view(B, T, KV, HD), w("keyNorm")).transpose(1, 2))
    v = F.linear(a, w("value")).view(B, T, KV, HD).transpose(1, 2)
    if attention == "sdpa":
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, enable_gqa=True)
    else:
        k, v = (t[:, :, None].expand(B, KV, H // KV, T, HD).reshape(B, H, T, HD) for t in (k, v))
        y = torch.softmax(q @ k.transpose(2, 3) * HD**-0.5 + mask, -1) @ v
    h = x + F.linear(y.transpose(1, 2).reshape(B, T, H * HD), w("output"))
    b = rms(h, w("postNorm"))
    return h + F.linear(F.silu(F.linear(b, w("gate"))) * F.linear(b, w("up")), w("down"))


optimizer = torch.optim.AdamW(P.values(), lr=1e-4, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.1, fused=attention == "sdpa")


def step():
    x = F.embedding(ids, P["embed"])
    for layer in range(L):
        x = block(layer, x)
    loss = F.cross_entropy(F.linear(rms(x, P["norm"]), P["embed"]).view(B * T, V), labels)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    return loss.item()


for _ in sys.stdin:
    start, cpu = time.perf_counter(), time.process_time()
    loss = step()
    ms = 1000 * (time.perf_counter() - start)
    print(json.dumps({"wall": ms, "loss": loss, "cpu": 1000 * (time.process_time() - cpu)}), flush=True)
