"""Generates by speculative decoding in PyTorch, in fp32 and greedily; prints ids and acceptance lengths as JSON.

python3 spec_decode.py TARGET DRAFTER CASE      CASE: {"prompts": [[ids]], "max_new_tokens": n, "stop_ids": [ids]}

The loop is the published one (DFlash, arXiv 2602.06036): the target reads the prompt and gives the first token; then, round by
round, the drafter fills a block behind the last token from the target's features of what stands before it, the target reads the
block, and as many draft tokens as it would have produced are kept, with one token of its own behind them.
"""

import json
import sys

import torch
from transformers import AutoModelForCausalLM, DynamicCache

from dflash_model import DFlashDraftModel


@torch.no_grad()
def answer(target, drafter, prompt, max_new_tokens, stop_ids):
    config = drafter.config.dflash_config
    size = drafter.config.block_size
    cache = DynamicCache()

    def read(ids):
        """Runs new tokens through the target: its token behind each of them, and their features."""
        out = target(torch.tensor([ids]), past_key_values=cache, output_hidden_states=True)
        features = torch.cat([out.hidden_states[layer + 1] for layer in config["target_layer_ids"]], dim=-1)
        return out.logits[0].argmax(-1).tolist(), features

    produced, features = read(prompt)
    ids = prompt + produced[-1:]
    lengths = []
    while len(ids) < len(prompt) + max_new_tokens and not set(ids[len(prompt) :]) & stop_ids:
        start = len(ids) - 1
        noise = target.get_input_embeddings()(torch.tensor([ids[-1:] + [config["mask_token_id"]] * (size - 1)]))
        hidden = drafter(noise, features, torch.arange(start + size).unsqueeze(0))
        draft = target.lm_head(hidden[0, 1:]).argmax(-1).tolist()
        produced, block = read(ids[-1:] + draft)
        accepted = 0
        while accepted < size - 1 and draft[accepted] == produced[accepted]:
            accepted += 1
        ids += produced[: accepted + 1]
        lengths.append(accepted + 1)
        if accepted + 1 < size:
            cache.crop(accepted + 1 - size)
        features = torch.cat([features, block[:, : accepted + 1]], dim=1)
    new = ids[len(prompt) : len(prompt) + max_new_tokens]
    stop = next((i + 1 for i, token in enumerate(new) if token in stop_ids), len(new))
    return {"ids": new[:stop], "acceptance_lengths": lengths}


target_dir, drafter_dir, case_file = sys.argv[1:]
torch.set_num_threads(1)
with open(case_file) as file:
    case = json.load(file)
target = AutoModelForCausalLM.from_pretrained(target_dir, dtype=torch.float32, attn_implementation="eager").eval()
drafter = DFlashDraftModel.from_pretrained(drafter_dir, dtype=torch.float32).eval()
stops = set(case["stop_ids"])
print(json.dumps([answer(target, drafter, prompt, case["max_new_tokens"], stops) for prompt in case["prompts"]]))
