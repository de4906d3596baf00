"""Loads an exported drafter into PyTorch, computes what the test wrote beside it, and saves the model again; prints the differences as JSON.

python3 check_export.py DIR      DIR holds the export and case.safetensors; the model is saved to DIR/resaved

The model is the published one, of the package `dflash`, where that is installed; else ours, written from its description.
"""

import json
import sys

import torch
from safetensors.torch import load_file

try:
    from dflash.model import DFlashDraftModel

    published = True
except ImportError:
    from dflash_model import DFlashDraftModel, block_masks

    published = False

folder = sys.argv[1]
model, info = DFlashDraftModel.from_pretrained(folder, dtype=torch.float32, output_loading_info=True)
case = load_file(f"{folder}/case.safetensors")
config = model.config


def draft(anchor, noise):
    """Hidden states of one block, as in decoding: it sees the features before its anchor, and itself."""
    features = case["features"][:anchor].unsqueeze(0)
    positions = torch.arange(anchor + config.block_size).unsqueeze(0)
    if published:
        return model(position_ids=positions, noise_embedding=noise.unsqueeze(0), target_hidden=features)[0]
    masks = block_masks(config, torch.tensor([[anchor]]), torch.tensor([[True]]), anchor)
    return model(noise.unsqueeze(0), features, positions, masks)[0]


with torch.no_grad():
    blocks = case["embed_tokens"][case["noise"].long()].split(config.block_size)
    hidden = torch.cat([draft(anchor, noise) for anchor, noise in zip(case["anchors"].tolist(), blocks)])
    logits = hidden @ case["lm_head"].T
model.save_pretrained(f"{folder}/resaved")
stored = load_file(f"{folder}/model.safetensors")
print(
    json.dumps(
        {
            "published": published,
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
