"""The DFlash drafter in PyTorch, on the modules of transformers' Qwen3: what checkpoints, losses and speed are compared with.

Arithmetic and names are those of the published model (DFlash, arXiv 2602.06036): keys and values come from the target's
features and from the block through the same projections, queries from the block alone.
"""

import torch
from torch import nn
from transformers.models.qwen3.modeling_qwen3 import (
    Qwen3Config,
    Qwen3MLP,
    Qwen3PreTrainedModel,
    Qwen3RMSNorm,
    Qwen3RotaryEmbedding,
    rotate_half,
)


class DFlashAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.heads, self.kv_heads, self.head_dim = (
            config.num_attention_heads,
            config.num_key_value_heads,
            config.head_dim,
        )
        self.q_proj = nn.Linear(config.hidden_size, self.heads * self.head_dim, bias=False)
        self.k_proj = nn.Linear(config.hidden_size, self.kv_heads * self.head_dim, bias=False)
        self.v_proj = nn.Linear(config.hidden_size, self.kv_heads * self.head_dim, bias=False)
        self.o_proj = nn.Linear(self.heads * self.head_dim, config.hidden_size, bias=False)
        self.q_norm = Qwen3RMSNorm(self.head_dim, eps=config.rms_norm_eps)
        self.k_norm = Qwen3RMSNorm(self.head_dim, eps=config.rms_norm_eps)

    def forward(self, x, context, rotary, mask):
        """x [b, Q, H], context [b, S, H], mask [b, Q, S + Q] true where a key is seen, or None for all keys."""
        def split(y, heads):
            return y.unflatten(-1, (heads, self.head_dim)).transpose(1, 2)

        both = torch.cat([context, x], dim=1)
        q = self.q_norm(split(self.q_proj(x), self.heads))
        k = self.k_norm(split(self.k_proj(both), self.kv_heads))
        v = split(self.v_proj(both), self.kv_heads)
        cos, sin = (table.unsqueeze(1) for table in rotary)
        last = slice(context.shape[1], None)
        q = q * cos[:, :, last] + rotate_half(q) * sin[:, :, last]
        k = k * cos + rotate_half(k) * sin
        y = nn.functional.scaled_dot_product_attention(
            q, k, v, attn_mask=None if mask is None else mask.unsqueeze(1), enable_gqa=True
        )
        return self.o_proj(y.transpose(1, 2).flatten(-2))


class DFlashLayer(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.self_attn = DFlashAttention(config)
        self.mlp = Qwen3MLP(config)
        self.input_layernorm = Qwen3RMSNorm(config.hidden_size, eps=config.rms_norm_eps)
        self.post_attention_layernorm = Qwen3RMSNorm(config.hidden_size, eps=config.rms_norm_eps)

    def forward(self, hidden, context, rotary, mask):
        hidden = hidden + self.self_attn(self.input_layernorm(hidden), context, rotary, mask)
        return hidden + self.mlp(self.post_attention_layernorm(hidden))


class DFlashDraftModel(Qwen3PreTrainedModel):
    config_class = Qwen3Config

    def __init__(self, config):
        super().__init__(config)
        features = len(config.dflash_config["target_layer_ids"])
        self.fc = nn.Linear(features * config.hidden_size, config.hidden_size, bias=False)
        self.hidden_norm = Qwen3RMSNorm(config.hidden_size, eps=config.rms_norm_eps)
        self.layers = nn.ModuleList(DFlashLayer(config) for _ in range(config.num_hidden_layers))
        self.norm = Qwen3RMSNorm(config.hidden_size, eps=config.rms_norm_eps)
        self.rotary_emb = Qwen3RotaryEmbedding(config)
        self.post_init()

    def forward(self, noise, features, positions, masks=None):
        """Hidden state of each slot, [b, Q, H], after the final norm.

        noise [b, Q, H]: the target's embedding of the slots' tokens; features [b, S, K·H]; positions [b, S + Q];
        masks: what `block_mask` gives, by layer type.
        """
        context = self.hidden_norm(self.fc(features))
        rotary = self.rotary_emb(noise, positions)
        hidden = noise
        for layer, kind in zip(self.layers, self.config.layer_types):
            hidden = layer(hidden, context, rotary, None if masks is None else masks[kind])
        return self.norm(hidden)


def block_mask(anchors, keep, block_size, context_length, window=None):
    """Which keys [context | blocks] each slot sees, [b, N·B, S + N·B]; anchors and keep [b, N].

    A slot sees the context strictly before its anchor, and its own block. With a window the context begins at
    anchor + offset − (window − 1) and the block is causal (SpecForge's rule).
    """
    slots = anchors.shape[1] * block_size
    offsets = torch.arange(slots) % block_size
    blocks = torch.arange(slots) // block_size
    anchor = anchors[:, blocks].unsqueeze(-1)
    key = torch.arange(context_length)
    context = key < anchor
    own = (blocks.unsqueeze(1) == blocks.unsqueeze(0)).expand(anchors.shape[0], -1, -1)
    if window is not None:
        context = context & (key >= anchor + offsets.unsqueeze(-1) - (window - 1))
        own = own & (offsets.unsqueeze(0) <= offsets.unsqueeze(1))
    return torch.cat([context, own], dim=-1) & keep[:, blocks].unsqueeze(-1)


def block_masks(config, anchors, keep, context_length):
    """The masks of all types of layer that the drafter has."""
    return {
        kind: block_mask(
            anchors,
            keep,
            config.block_size,
            context_length,
            config.sliding_window if kind == "sliding_attention" else None,
        )
        for kind in set(config.layer_types)
    }
