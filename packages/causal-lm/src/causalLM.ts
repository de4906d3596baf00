import { createKeyValueCache, createRotaryTables, type Tensor } from "@dflash/ops";
import type {
  CachedTargetModel,
  CachedTokens,
  ExtendedHiddenStates,
  TargetForwardOptions,
  TargetHiddenStates,
  TokenBatch,
} from "@dflash/target-forward";
import type { Section } from "@dflash/timer";
import { attentionBlock, loadAttention, type ForwardContext } from "./attentionBlock.ts";
import { readCausalLMConfig, type CausalLMConfig } from "./causalLMConfig.ts";
import type { Decoder } from "./decoder.ts";
import { extend } from "./extend.ts";
import { loadMLP, mlpBlock } from "./mlpBlock.ts";
import { parameterShapes } from "./parameterShapes.ts";
import { rotaryFrequencies } from "./rotaryFrequencies.ts";
import { loadHead, type TargetHeadOptions } from "./targetHead.ts";
import { tokenPlaces } from "./tokenPlaces.ts";
import { withWeights, type Weights } from "./weights.ts";

/** Times parts of a forward: a timer of `@dflash/timer`, or what makes sections like its. */
export interface ForwardTimer {
  /** Makes a section, or gives the one of that name. */
  section(name: string, options: { readonly lane: string }): Pick<Section, "time">;
}

/** What a model is loaded with. */
export interface CausalLMOptions extends TargetHeadOptions {
  /** Times the inside of the forward, in the lane `target`: `target/attention`, `target/mlp`, `target/capture`. */
  timer?: ForwardTimer;
}

/** A frozen causal language model on the engine. */
export interface CausalLM extends CachedTargetModel {
  /** What its `config.json` says. */
  readonly config: CausalLMConfig;
  /**
   * Computes at once.
   *
   * @throws {RangeError} For layers and tokens that the model doesn't have.
   */
  forward(batch: TokenBatch, options: TargetForwardOptions): TargetHiddenStates;
  /**
   * Computes at once.
   *
   * @throws {RangeError} For layers and tokens that the model doesn't have, and for rows without a token.
   * @throws {TypeError} For a cache that isn't this model's, was disposed, or is named by two rows.
   */
  extend(rows: readonly CachedTokens[], layerIds: readonly number[]): ExtendedHiddenStates;
}

/**
 * Loads a frozen causal language model (Qwen3, Qwen2, Llama 3) from a folder in the Hugging Face layout.
 *
 * @throws {Error} One line with the file, the key or tensor, and what was expected.
 */
export async function loadCausalLM(dir: string, { ops, timer }: CausalLMOptions): Promise<CausalLM> {
  const config = await readCausalLMConfig(dir);
  const section = (name: string): Pick<Section, "time"> =>
    timer?.section(name, { lane: "target" }) ?? { time: (fn) => fn() };
  const sections = {
    attention: section("target/attention"),
    mlp: section("target/mlp"),
    capture: section("target/capture"),
  };
  return withWeights(dir, parameterShapes(config), ops, async (weights) => {
    const head = await loadHead(weights, config);
    const layers = await loadLayers(weights, config);
    const rotary = createRotaryTables(ops, {
      frequencies: rotaryFrequencies(config.rope, config.headDim),
      scale: config.rope.type === "yarn" ? config.rope.attentionFactor : 1,
    });
    const decoder: Decoder = { ops, config, head, layers, rotary, sections };
    const { kvHeads, headDim } = config;
    const cache = createKeyValueCache({ ops, name: "target cache", layers: config.layers, kvHeads, headDim });
    return {
      config,
      head,
      layers: config.layers,
      hiddenSize: config.hiddenSize,
      forward: (batch, options) => forward(decoder, batch, options),
      createCache: () => cache.open(),
      extend(rows, layerIds) {
        checkLayerIds(layerIds, config.layers);
        return extend(decoder, cache, rows, layerIds);
      },
      logits: (hidden) => ops.scope(() => ops.linear(ops.rmsNorm(hidden, head.finalNorm, config.epsilon), head.lmHead)),
      dispose() {
        weights.dispose();
        rotary.dispose();
      },
    };
  });
}

async function loadLayers(weights: Weights, config: CausalLMConfig): Promise<Decoder["layers"]> {
  const layers = [];
  for (let layer = 0; layer < config.layers; layer++) {
    layers.push({ attention: await loadAttention(weights, config, layer), mlp: await loadMLP(weights, layer) });
  }
  return layers;
}

/** Runs the layers up to the last one that is asked for; of the rest only the residual stream is kept, while it is needed. */
function forward(decoder: Decoder, batch: TokenBatch, options: TargetForwardOptions): TargetHiddenStates {
  const { ops, config, head, layers, sections } = decoder;
  const { layerIds, captureLast = false } = options;
  if (layerIds.length === 0) throw new RangeError("layerIds is empty, expected the decoder layers to capture");
  checkLayerIds(layerIds, config.layers);
  const places = tokenPlaces(batch, config.vocabSize);
  const context: ForwardContext = { ops, config, places, rotary: decoder.rotary.covering(places.longestRow) };
  const wanted = new Set(captureLast ? [...layerIds, config.layers - 1] : layerIds);
  return ops.scope(() => {
    const captured = new Map<number, Tensor>();
    let hidden = ops.embedding(head.embedTokens, batch.ids);
    for (const [id, { attention, mlp }] of layers.slice(0, Math.max(...wanted) + 1).entries()) {
      const between = sections.attention.time(() => attentionBlock(context, attention, hidden));
      const output = sections.mlp.time(() => mlpBlock(context, mlp, between));
      sections.capture.time(() => {
        between.dispose();
        if (!captured.has(id - 1)) hidden.dispose();
        if (wanted.has(id)) captured.set(id, output);
      });
      hidden = output;
    }
    return {
      features: layerIds.map((id) => captured.get(id)!),
      last: captureLast ? hidden : null,
    };
  });
}

function checkLayerIds(layerIds: readonly number[], layers: number): void {
  const outside = layerIds.find((id) => !Number.isInteger(id) || id < 0 || id >= layers);
  if (outside !== undefined)
    throw new RangeError(`layerIds holds ${outside}, expected decoder layers from 0 to ${layers - 1}`);
}
