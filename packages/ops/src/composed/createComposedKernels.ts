import type { Engine } from "@dflash/engine";
import type * as tf from "@tensorflow/tfjs-core";
import type { Kernels } from "../kernels.ts";
import { attentionKernels } from "./attentionKernels.ts";
import { crossEntropyKernels } from "./crossEntropyKernels.ts";
import { layerKernels } from "./layerKernels.ts";
import { rowKernels } from "./rowKernels.ts";
import { distillationKernels } from "./distillationKernels.ts";
import { storageKernels } from "./storageKernels.ts";
import { tiledCrossEntropyKernels } from "./tiledCrossEntropyKernels.ts";
import { updateKernels } from "./updateKernels.ts";

/**
 * Every kernel from tfjs-core's functional ops alone, which need no registered gradients: right on every engine, slow on
 * WASM, and the oracle that fused forms are tested against.
 */
export function createComposedKernels(engine: Engine): Kernels<tf.Tensor> {
  return {
    ...storageKernels(engine),
    ...rowKernels,
    ...layerKernels,
    ...attentionKernels,
    ...crossEntropyKernels,
    ...tiledCrossEntropyKernels,
    ...distillationKernels,
    ...updateKernels,
  };
}
