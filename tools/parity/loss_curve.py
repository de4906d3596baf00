"""Trains small drafters in PyTorch and writes their loss curves, with all that training them again needs.

python3 loss_curve.py DIR      writes loss-curve.safetensors and loss-curve.json

The text comes from a seeded Markov chain and the features from tables of a token and the one before it, so that there is
something to learn. Every eligible position is an anchor: no draw is involved.
"""

import json
import math
import sys

import torch
from safetensors.torch import save_file
from torch.nn import functional
from transformers.models.qwen3.modeling_qwen3 import Qwen3Config

from dflash_model import DFlashDraftModel, block_masks

torch.manual_seed(20261129)
torch.set_num_threads(1)
STEPS, BATCHES, ROWS, LENGTH, PROMPT = 200, 20, 2, 40, 8
VOCAB, HIDDEN, BLOCK, FEATURES, MASK = 61, 32, 8, 3, 60
PEAK, WARMUP, CLIP, GAMMA, ALPHA = 3e-3, 8, 1.0, 4.0, 0.5

config = Qwen3Config(
    vocab_size=VOCAB,
    hidden_size=HIDDEN,
    intermediate_size=48,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    head_dim=8,
    max_position_embeddings=64,
    rms_norm_eps=1e-6,
    rope_parameters={"rope_type": "default", "rope_theta": 10000.0},
    layer_types=["full_attention"] * 2,
    tie_word_embeddings=False,
    block_size=BLOCK,
    num_target_layers=12,
    dflash_config={"mask_token_id": MASK, "target_layer_ids": [1, 5, 9], "block_size": BLOCK},
)
embed, head = torch.randn(VOCAB, HIDDEN) * 0.5, torch.randn(VOCAB, HIDDEN) * 0.5
tables = torch.randn(2, VOCAB, FEATURES * HIDDEN) * 0.7
successors = torch.randint(0, MASK, (MASK, 2))


def markov_text():
    ids = torch.empty(BATCHES, ROWS, LENGTH, dtype=torch.long)
    ids[..., 0] = torch.randint(0, MASK, (BATCHES, ROWS))
    for t in range(1, LENGTH):
        # The likelier of two successors nine times in ten.
        rare = (torch.rand(BATCHES, ROWS) < 0.1).long()
        ids[..., t] = successors[ids[..., t - 1], rare]
    return ids


ids = markov_text()
before = functional.pad(ids[..., :-1], (1, 0), value=MASK)
features = tables[0][ids] + tables[1][before]
initial = {name: torch.randn(p.shape) * 0.02 for name, p in DFlashDraftModel(config).named_parameters()}
initial = {name: torch.ones_like(p) if p.ndim == 1 else p for name, p in initial.items()}

anchors = torch.arange(PROMPT, LENGTH - 1).expand(ROWS, -1)
slots = anchors.unsqueeze(-1) + torch.arange(BLOCK)
valid = (slots < LENGTH) & (torch.arange(BLOCK) > 0)
positions = torch.cat([torch.arange(LENGTH).expand(ROWS, -1), slots.flatten(1)], dim=1)
masks = block_masks(config, anchors, torch.ones_like(anchors, dtype=torch.bool), LENGTH)


def weights(losses, kind):
    """Weight of each slot, [b, N, B], and what the sum is divided by."""
    if kind == "decay":
        w = torch.exp(-(torch.arange(BLOCK) - 1) / GAMMA) * valid
        return w, w.sum()
    confidence = torch.where(valid, (1 - ALPHA) * torch.exp(-losses.detach()) + ALPHA, 1.0)
    prefix = confidence.cumprod(-1) * valid
    return prefix.flip(-1).cumsum(-1).flip(-1) * valid, ROWS


def curve(kind):
    model = DFlashDraftModel(config)
    model.load_state_dict(initial)
    optimizer = torch.optim.AdamW(model.parameters(), lr=PEAK, weight_decay=0.0)
    losses = []
    for step in range(STEPS):
        text = ids[step % BATCHES]
        noise = torch.full((ROWS, anchors.shape[1], BLOCK), MASK)
        noise[..., 0] = text.gather(1, anchors)
        hidden = model(embed[noise.flatten(1)], features[step % BATCHES], positions, masks)
        labels = text.gather(1, slots.clamp(max=LENGTH - 1).flatten(1))
        each = functional.cross_entropy((hidden @ head.T).transpose(1, 2), labels, reduction="none")
        each = each.unflatten(1, (-1, BLOCK))
        w, divisor = weights(each, kind)
        loss = (each * w).sum() / divisor
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        done = (step - WARMUP) / (STEPS - WARMUP)
        rate = PEAK * ((step + 1) / WARMUP if step < WARMUP else (1 + math.cos(math.pi * done)) / 2)
        for group in optimizer.param_groups:
            group["lr"] = rate
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    return losses


folder = sys.argv[1]
tensors = {"embed_tokens.weight": embed, "lm_head.weight": head, "tables": tables, "input_ids": ids.int()}
save_file({**tensors, **{f"weights/{k}": v for k, v in initial.items()}}, f"{folder}/loss-curve.safetensors")
settings = {
    "steps": STEPS,
    "prompt": PROMPT,
    "peak": PEAK,
    "warmup_steps": WARMUP,
    "clip": CLIP,
    "gamma": GAMMA,
    "alpha": ALPHA,
}
with open(f"{folder}/loss-curve.json", "w") as file:
    curves = {"decay": curve("decay"), "d-pace": curve("d-pace")}
    json.dump({"config": config.to_dict(), **settings, "losses": curves}, file, indent=1)
    file.write("\n")
