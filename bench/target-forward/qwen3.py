"""Writes a Qwen3 of 0.6 B random parameters in bfloat16, and what PyTorch computes with it in float32.

Usage: qwen3.py <folder>. Leaves the model there, and reference.safetensors: `short` is a row through all layers, `far` one of
30,000 tokens through the first.
"""

import sys

import torch
from safetensors.torch import save_file
from transformers import AutoModelForCausalLM, Qwen3Config, Qwen3ForCausalLM

folder = sys.argv[1]
config = Qwen3Config(
    vocab_size=151_936,
    hidden_size=1024,
    intermediate_size=3072,
    num_hidden_layers=28,
    num_attention_heads=16,
    num_key_value_heads=8,
    head_dim=128,
    max_position_embeddings=40_960,
    rope_parameters={"rope_type": "default", "rope_theta": 1_000_000.0},
    tie_word_embeddings=True,
    initializer_range=0.05,
)
torch.manual_seed(0)
model = Qwen3ForCausalLM(config).to(torch.bfloat16)
model.save_pretrained(folder)
del model

model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="sdpa").eval()
print(f"{sum(p.numel() for p in model.parameters()):,} parameters")


def ids(length: int) -> torch.Tensor:
    return (torch.arange(length) * 7919 % config.vocab_size)[None]


with torch.inference_mode():
    short = model(ids(256), output_hidden_states=True, use_cache=False)
    # The last entry is behind the final norm, which the others are not.
    tensors = {f"short/{i}": short.hidden_states[i][0].clone() for i in (1, 7, 14, 21, 27)}
    tensors["logits"] = short.logits[0, -1].clone()
    # Behind the one layer that is left stands the final norm, which a hook comes before.
    model.model.layers = model.model.layers[:1]
    captured = []
    model.model.layers[0].register_forward_hook(lambda _, __, out: captured.append(out[0] if isinstance(out, tuple) else out))
    model.model(ids(30_000), use_cache=False)
    tensors["far"] = captured[0].reshape(30_000, -1)[-64:].clone()
save_file(tensors, f"{folder}/reference.safetensors")
