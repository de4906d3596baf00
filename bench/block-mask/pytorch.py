"""Times PyTorch's create_block_mask on the DFlash mask: reads cases (JSON) from standard input, prints one JSON line a case and builder.

Eager, and compiled as well where there is a CUDA device; a case that does not fit there is left out.
"""

import hashlib
import json
import statistics
import sys
import time

import torch
from torch.nn.attention.flex_attention import create_block_mask

device = "cuda" if torch.cuda.is_available() else "cpu"
name = torch.cuda.get_device_name() if device == "cuda" else f"CPU, {torch.get_num_threads()} threads"
largest = float("inf") if device == "cuda" else 1.2e8  # elements of the dense mask that create_block_mask goes through
runs = 30 if device == "cuda" else 5


def predicate(case):
    s, n, b = case["contextLength"], case["blocks"], case["blockSize"]
    window = case.get("slidingWindow")
    scatter = [(i + (i * 0x9E3779B1 % 2**32) / 2**32) * (s / n) for i in range(n)]
    anchors = torch.tensor([int(a) for a in scatter], device=device)

    def visible(batch, head, q, kv):
        anchor = anchors[q // b]
        context = (kv < s) & (kv < anchor)
        noise = (kv >= s) & ((kv - s) // b == q // b)
        if window is not None:
            context = context & (kv >= anchor + q % b - (window - 1))
            noise = noise & ((kv - s) % b <= q % b)
        return context | noise

    return visible, n * b, s + n * b


def timed(build):
    if device == "cuda":
        torch.cuda.synchronize()
    start = time.perf_counter()
    mask = build()
    if device == "cuda":
        torch.cuda.synchronize()
    return mask, (time.perf_counter() - start) * 1e3


def fingerprint(mask):
    """A hash of the eight index arrays in their valid ranges, as bench.ts makes it."""
    digest = hashlib.sha256()
    for field in ("kv", "full_kv", "q", "full_q"):
        counts = getattr(mask, f"{field}_num_blocks")[0, 0].tolist()
        indices = getattr(mask, f"{field}_indices")[0, 0].tolist()
        digest.update("\n".join(" ".join(map(str, row[:count])) for row, count in zip(indices, counts)).encode())
    return digest.hexdigest()


def measure(case, builder, create):
    visible, q_len, kv_len = predicate(case)
    if q_len * kv_len > largest:
        return
    build = lambda: create(visible, 1, None, q_len, kv_len, device=device, BLOCK_SIZE=case["tile"])
    mask, first = timed(build)
    times = sorted(timed(build)[1] for _ in range(runs))
    result = {
        "case": case,
        "builder": f"PyTorch {torch.__version__} {builder}",
        "device": name,
        "first": first,
        "median": statistics.median(times),
        "low": times[len(times) // 10],
        "high": times[-1 - len(times) // 10],
        "n": len(times),
        "fingerprint": fingerprint(mask),
    }
    print(json.dumps(result), flush=True)


for case in json.load(sys.stdin):
    try:
        measure(case, "eager", create_block_mask)
        if device == "cuda":
            torch.compiler.reset()
            measure(case, "compiled", torch.compile(create_block_mask))
    except torch.OutOfMemoryError:
        print(f"out of memory: {case}", file=sys.stderr)
