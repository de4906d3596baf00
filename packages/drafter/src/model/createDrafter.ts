import { createRotaryTables, type KeysValues, type Ops, rotaryWavelengths, type Tensor } from "@dflash/ops";
import type { Timer } from "@dflash/timer";
import type { LayerRanges } from "../blocks/blockRanges.ts";
import type { DrafterConfig } from "../config/drafterConfig.ts";
import { createDecoderLayer } from "./decoderLayer.ts";
import { type CachedDrafting, createCachedDrafting } from "./cachedDrafting.ts";
import { createFeatureProjection, type TargetFeatures } from "./featureProjection.ts";
import { parameterShapes } from "./parameterShapes.ts";
import type { WeightSource } from "./randomWeights.ts";
import { uploadParameters } from "./uploadParameters.ts";

/** Input of a drafter: N blocks of B slots, Q = N·B, over a packed batch of T tokens. */
export interface DrafterInput {
  /** The target's embedding of each slot's token, [Q, H]. */
  readonly noise: Tensor;
  /** Position of each slot in its row, [Q]. */
  readonly noisePositions: Int32Array;
  /** The target's hidden states of the batch, [T, K·H] joined, or K of [T, H]. */
  readonly features: TargetFeatures;
  /** Position of each token in its row, [T]. */
  readonly contextPositions: Int32Array;
  /** The keys that each slot sees. */
  readonly ranges: LayerRanges;
}

/** A block-diffusion draft model: predicts all slots of a block at once from the target's features before it. */
export interface DFlashDrafter extends CachedDrafting {
  /** Its shape and what it was trained for. */
  readonly config: DrafterConfig;
  /** Trainable, float32, by name in the order of computation; changed in place by an optimizer. */
  readonly parameters: ReadonlyMap<string, Tensor>;
  /** Hidden state of each slot after the final norm, [Q, H]; the target's LM head makes logits of it. */
  forward(input: DrafterInput): Tensor;
  /** Frees parameters and tables. */
  dispose(): void;
}

/** Settings of {@link createDrafter}. */
export interface DrafterOptions {
  /** What it computes with. */
  readonly ops: Ops;
  /** Its shape. */
  readonly config: DrafterConfig;
  /** Where the parameters' values come from, such as `randomWeights`. */
  readonly weights: WeightSource;
  /** Receives the sections `drafter/forward/features`, `…/context`, `…/attention` and `…/mlp`. */
  readonly timer: Timer;
}

/** Makes a drafter on the engine. @throws {Error} When the source gives a parameter the wrong number of values. */
export async function createDrafter({ ops, config, weights, timer }: DrafterOptions): Promise<DFlashDrafter> {
  const parameters = await uploadParameters(ops, parameterShapes(config), weights);
  const weight = (name: string): Tensor => parameters.get(`${name}.weight`)!;
  const rotary = createRotaryTables(ops, {
    frequencies: rotaryWavelengths(config.ropeTheta, config.headDim).map((wavelength) => 1 / wavelength),
    // The last block of a row of full length ends B − 1 positions behind it.
    mostPositions: config.maxPositions + config.blockSize,
  });
  const sections = {
    features: timer.section("drafter/forward/features"),
    context: timer.section("drafter/forward/context"),
    attention: timer.section("drafter/forward/attention"),
    mlp: timer.section("drafter/forward/mlp"),
  };
  const layers = config.layerTypes.map((type, index) =>
    createDecoderLayer({ ops, config, type, rotary, sections, weight: (name) => weight(`layers.${index}.${name}`) }),
  );
  const projection = createFeatureProjection(ops, config, weight);
  const project = (features: TargetFeatures): Tensor => sections.features.time(() => projection(features));
  const finish = (hidden: Tensor): Tensor => ops.rmsNorm(hidden, weight("norm"), config.epsilon);

  return {
    config,
    parameters,
    forward({ noise, noisePositions, features, contextPositions, ranges }) {
      const projected = project(features);
      const hidden = layers.reduce((before, layer) => {
        const context = layer.context(projected, contextPositions);
        const join = (own: KeysValues): KeysValues => ({
          keys: ops.concat([context.keys, own.keys], 0),
          values: ops.concat([context.values, own.values], 0),
        });
        return layer.forward(before, noisePositions, join, ranges[layer.type]);
      }, noise);
      return finish(hidden);
    },
    ...createCachedDrafting({ ops, config, layers, project, finish }),
    dispose() {
      for (const tensor of parameters.values()) tensor.dispose();
      rotary.dispose();
    },
  };
}
