import type { TensorflowOps } from "@dflash/engine";
import type * as tf from "@tensorflow/tfjs-core";
import type { Kernels } from "../kernels.ts";
import { attentionKernels } from "./attentionKernels.ts";
import { cpuKernels } from "./cpu/cpuKernels.ts";
import { crossEntropyKernels } from "./crossEntropyKernels.ts";
import { distillationKernels } from "./distillationKernels.ts";
import { layerKernels } from "./layerKernels.ts";
import { linearKernels } from "./linearKernels.ts";
import { rotaryKernel } from "./rotaryKernel.ts";
import { rowKernels } from "./rowKernels.ts";
import { createTensorflowContext } from "./tensorflowContext.ts";
import { updateKernels } from "./updateKernels.ts";

/** Kernels for the native TensorFlow engines, of TensorFlow's own ops: fewer passes over memory and half the cost a dispatch. */
export function createTensorflowKernels(
  raw: TensorflowOps,
  device: "cpu" | "gpu",
  threads: number,
): Omit<Kernels<tf.Tensor>, "upload" | "read" | "dispose" | "tiledCrossEntropy"> {
  const context = createTensorflowContext(raw);
  return {
    ...linearKernels(context),
    ...layerKernels(context),
    rotary: rotaryKernel(context),
    ...attentionKernels(context, device),
    ...crossEntropyKernels(context),
    ...distillationKernels(context),
    ...rowKernels(context),
    ...updateKernels(context),
    ...(device === "cpu" ? cpuKernels(raw, context, threads) : {}),
  };
}
