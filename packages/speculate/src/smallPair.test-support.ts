import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type CausalLM, loadCausalLM } from "@dflash/causal-lm";
import { createDrafter, createDrafterConfig, type DFlashDrafter, randomWeights } from "@dflash/drafter";
import type { Ops } from "@dflash/ops";
import { type TensorData, writeSafetensors } from "@dflash/safetensors";
import type { Timer } from "@dflash/timer";

const shape = { hiddenSize: 16, intermediateSize: 24, layers: 2, heads: 2, kvHeads: 1, headDim: 8 };
const vocabSize = 6;

/** A target and a drafter with random weights over six tokens. */
export async function loadSmallPair(ops: Ops, timer: Timer): Promise<{ target: CausalLM; drafter: DFlashDrafter }> {
  const folder = await mkdtemp(join(tmpdir(), "small-target-"));
  await writeFile(
    join(folder, "config.json"),
    JSON.stringify({
      architectures: ["LlamaForCausalLM"],
      model_type: "llama",
      vocab_size: vocabSize,
      hidden_size: shape.hiddenSize,
      intermediate_size: shape.intermediateSize,
      num_hidden_layers: shape.layers,
      num_attention_heads: shape.heads,
      num_key_value_heads: shape.kvHeads,
      head_dim: shape.headDim,
      max_position_embeddings: 64,
      rms_norm_eps: 1e-6,
      rope_theta: 10000,
      hidden_act: "silu",
      tie_word_embeddings: true,
    }),
  );
  await writeSafetensors(join(folder, "model.safetensors"), await targetWeights());
  const target = await loadCausalLM(folder, { ops });
  await rm(folder, { recursive: true });
  const config = createDrafterConfig({
    target: { ...shape, vocabSize, maxPositions: 64, epsilon: 1e-6, ropeTheta: 10000 },
    layers: 1,
    blockSize: 4,
    targetLayerIds: [0, 1],
    maskTokenId: 5,
  });
  return { target, drafter: await createDrafter({ ops, config, timer, weights: randomWeights(3, 0.3) }) };
}

async function targetWeights(): Promise<Record<string, TensorData>> {
  const { hiddenSize: h, intermediateSize: m, headDim } = shape;
  const [q, kv] = [shape.heads * headDim, shape.kvHeads * headDim];
  const layer = (index: number): [string, number[]][] =>
    Object.entries({
      input_layernorm: [h],
      post_attention_layernorm: [h],
      "self_attn.q_proj": [q, h],
      "self_attn.k_proj": [kv, h],
      "self_attn.v_proj": [kv, h],
      "self_attn.o_proj": [h, q],
      "mlp.gate_proj": [m, h],
      "mlp.up_proj": [m, h],
      "mlp.down_proj": [h, m],
    }).map(([name, extents]) => [`layers.${index}.${name}`, extents]);
  const shapes: [string, number[]][] = [["embed_tokens", [vocabSize, h]], ["norm", [h]], ...layer(0), ...layer(1)];
  const random = randomWeights(4, 0.4);
  const weights: Record<string, TensorData> = {};
  for (const [name, extents] of shapes) {
    const values = await random(name, extents);
    weights[`model.${name}.weight`] = { dtype: "F32", shape: extents, data: values };
  }
  return weights;
}
