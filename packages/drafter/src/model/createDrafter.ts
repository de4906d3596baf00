import type { Ops, Tensor } from "@dflash/ops";
import type { Timer } from "@dflash/timer";
import type { LayerRanges } from "../blocks/blockRanges.ts";
import type { DrafterConfig } from "../config/drafterConfig.ts";
import { createDecoderLayer } from "./decoderLayer.ts";
import { parameterShapes } from "./parameterShapes.ts";
import type { WeightSource } from "./randomWeights.ts";
import { rotaryTable } from "./rotaryTable.ts";

/** Input of a drafter: N blocks of B slots, Q = N·B, over a packed batch of T tokens. */
export interface DrafterInput {
  /** The target's embedding of each slot's token, [Q, H]. */
  readonly noise: Tensor;
  /** Position of each slot in its row, [Q]. */
  readonly noisePositions: Int32Array;
  /** The target's features, joined in the order of `targetLayerIds`, [T, K·H]. */
  readonly features: Tensor;
  /** Position of each token in its row, [T]. */
  readonly contextPositions: Int32Array;
  /** The keys that each slot sees. */
  readonly ranges: LayerRanges;
}

/** A block-diffusion draft model: predicts all slots of a block at once from the target's features before it. */
export interface DFlashDrafter {
  readonly config: DrafterConfig;
  /** Trainable, float32, by name in the order of computation; changed in place by an optimizer. */
  readonly parameters: ReadonlyMap<string, Tensor>;
  /** Hidden state of each slot after the final norm, [Q, H]; the target's LM head makes logits of it. */
  forward(input: DrafterInput): Tensor;
  dispose(): void;
}

export interface DrafterOptions {
  readonly ops: Ops;
  readonly config: DrafterConfig;
  /** Where the parameters' values come from, such as `randomWeights`. */
  readonly weights: WeightSource;
  /** Receives the sections `drafter/forward/features`, `…/attention` and `…/mlp`. */
  readonly timer: Timer;
}

/** Makes a drafter on the engine. @throws {Error} When the source gives a parameter the wrong number of values. */
export async function createDrafter({ ops, config, weights, timer }: DrafterOptions): Promise<DFlashDrafter> {
  const parameters = await uploadParameters(ops, parameterShapes(config), weights);
  const weight = (name: string): Tensor => parameters.get(`${name}.weight`)!;
  // The last block of a row of full length ends B − 1 positions behind it.
  const rotary = rotaryTable(ops, config.maxPositions + config.blockSize, config.headDim, config.ropeTheta);
  const sections = {
    features: timer.section("drafter/forward/features"),
    attention: timer.section("drafter/forward/attention"),
    mlp: timer.section("drafter/forward/mlp"),
  };
  const layers = config.layerTypes.map((type, index) => ({
    type,
    ...createDecoderLayer({ ops, config, rotary, sections, weight: (name) => weight(`layers.${index}.${name}`) }),
  }));

  return {
    config,
    parameters,
    forward({ noise, noisePositions, features, contextPositions, ranges }) {
      const width = config.targetLayerIds.length * config.hiddenSize;
      if (features.shape[1] !== width) {
        const layout = `${config.targetLayerIds.length} target layers of ${config.hiddenSize}`;
        throw new Error(
          `drafter: the features have shape [${features.shape.join(", ")}], expected [T, ${width}]: ${layout}`,
        );
      }
      const context = sections.features.time(() =>
        ops.rmsNorm(ops.linear(features, weight("fc")), weight("hidden_norm"), config.epsilon),
      );
      let hidden = noise;
      for (const layer of layers) {
        hidden = layer.forward(hidden, noisePositions, layer.context(context, contextPositions), ranges[layer.type]);
      }
      return ops.rmsNorm(hidden, weight("norm"), config.epsilon);
    },
    dispose() {
      for (const tensor of [...parameters.values(), rotary.cos, rotary.sin]) tensor.dispose();
    },
  };
}

async function uploadParameters(
  ops: Ops,
  shapes: ReadonlyMap<string, readonly number[]>,
  weights: WeightSource,
): Promise<Map<string, Tensor>> {
  const parameters = new Map<string, Tensor>();
  try {
    for (const [name, shape] of shapes) {
      const values = await weights(name, shape);
      const size = shape.reduce((product, extent) => product * extent, 1);
      if (values.length !== size) {
        throw new Error(
          `drafter: ${name} has ${values.length} values, expected ${size} for shape [${shape.join(", ")}]`,
        );
      }
      parameters.set(name, ops.upload(values, shape));
    }
    return parameters;
  } catch (error) {
    for (const tensor of parameters.values()) tensor.dispose();
    throw error;
  }
}
