"""Loads an exported drafter into PyTorch and computes what the test wrote beside it; prints the differences as JSON.

python3 check_export.py DIR      DIR holds the export and case.safetensors
"""

import json
import sys

import torch
from safetensors.torch import load_file

from dflash_model import DFlashDraftModel, block_masks

folder = sys.argv[1]
model, info = DFlashDraftModel.from_pretrained(folder, dtype=torch.float32, output_loading_info=True)
case = load_file(f"{folder}/case.safetensors")
config = model.config
anchors = case["anchors"].long().unsqueeze(0)
tokens = case["features"].shape[0]
positions = torch.cat(
    [torch.arange(tokens), (anchors.unsqueeze(-1) + torch.arange(config.block_size)).flatten()]
).unsqueeze(0)
with torch.no_grad():
    hidden = model(
        case["embed_tokens"][case["noise"].long()].unsqueeze(0),
        case["features"].unsqueeze(0),
        positions,
        block_masks(config, anchors, torch.ones_like(anchors, dtype=torch.bool), tokens),
    )[0]
    logits = hidden @ case["lm_head"].T
stored = load_file(f"{folder}/model.safetensors")
print(
    json.dumps(
        {
            "loading": {key: sorted(map(str, value)) for key, value in info.items() if key != "error_msgs"},
            "dtypes": sorted({str(tensor.dtype) for tensor in stored.values()}),
            "rope_theta": config.rope_parameters["rope_theta"],
            "block_size": config.block_size,
            "dflash_config": config.dflash_config,
            "largest": logits.abs().max().item(),
            "difference": (logits - case["logits"]).abs().max().item(),
        }
    )
)
