"""Takes a drafter's step in PyTorch for every line of standard input; answers with its times and the process's memory.

The model is that of tools/parity, the objective SpecForge's: padded rows, a dense mask, cross-entropy under the decay's weights.
"""

import json
import resource
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tools" / "parity"))
import torch
from torch.nn import functional
from transformers.models.qwen3.modeling_qwen3 import Qwen3Config

from dflash_model import DFlashDraftModel, block_masks

threads, shape = int(sys.argv[1]), json.loads(sys.argv[2])
torch.set_num_threads(threads)
torch.manual_seed(0)


def peak():
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


torch.randn(64, 64) @ torch.randn(64, 64)
idle = peak()
block, rows, length = shape["blockSize"], shape["rows"], shape["length"]
config = Qwen3Config(
    vocab_size=shape["vocabSize"],
    hidden_size=shape["hiddenSize"],
    intermediate_size=shape["intermediateSize"],
    num_hidden_layers=shape["layers"],
    num_attention_heads=shape["heads"],
    num_key_value_heads=shape["kvHeads"],
    head_dim=shape["headDim"],
    max_position_embeddings=4096,
    rope_parameters={"rope_type": "default", "rope_theta": 10000.0},
    layer_types=["full_attention"] * shape["layers"],
    block_size=block,
    dflash_config={"mask_token_id": 3, "target_layer_ids": list(range(shape["features"]))},
)
model = DFlashDraftModel(config)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, weight_decay=0.0, fused=True)
embedding = torch.randn(config.vocab_size, config.hidden_size)
features = torch.randn(rows, length, shape["features"] * config.hidden_size)
ids = torch.randint(config.vocab_size, (rows, length))
decay = torch.exp(-(torch.arange(block) - 1) / {8: 4.0, 16: 7.0}[block]) * (torch.arange(block) > 0)


def step():
    eligible = torch.arange(shape["prompt"], length - 1)
    chosen = [torch.randperm(len(eligible))[: shape["anchors"]].sort().values for _ in range(rows)]
    anchors = eligible[torch.stack(chosen)]
    slots = anchors.unsqueeze(-1) + torch.arange(block)
    masks = block_masks(config, anchors, torch.ones_like(anchors, dtype=torch.bool), length)
    noise = torch.full(slots.shape, 3)
    noise[..., 0] = ids.gather(1, anchors)
    positions = torch.cat([torch.arange(length).expand(rows, -1), slots.flatten(1)], dim=1)
    hidden = model(embedding[noise.flatten(1)], features, positions, masks)
    weights = ((slots < length) * decay).flatten(1)
    labels = ids.gather(1, slots.clamp(max=length - 1).flatten(1))
    logits = hidden @ embedding.T
    losses = functional.cross_entropy(logits.transpose(1, 2), labels, reduction="none")
    loss = (losses * weights).sum() / weights.sum()
    matches = ((logits.argmax(-1) == labels) * (weights > 0)).sum()
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return loss.item(), matches.item()


for _ in sys.stdin:
    start, cpu_start = time.perf_counter(), time.process_time()
    step()
    wall, cpu = time.perf_counter() - start, time.process_time() - cpu_start
    print(json.dumps({"wall": wall * 1e3, "cpu": cpu * 1e3, "peak": peak(), "idle": idle}), flush=True)
