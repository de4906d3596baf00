import type { GpuPrograms } from "@dflash/engine";
import type * as tf from "@tensorflow/tfjs-core";
import type { Kernels } from "../kernels.ts";
import { attentionKernels } from "./attentionKernels.ts";
import { crossEntropyKernels } from "./crossEntropyKernels.ts";
import { distillationKernels } from "./distillationKernels.ts";
import { elementwiseKernels } from "./elementwiseKernels.ts";
import { linearKernels } from "./linearKernels.ts";
import { rmsNormKernels } from "./rmsNormKernels.ts";
import { rowKernels } from "./rowKernels.ts";
import { createWebgpuContext } from "./webgpuContext.ts";

/** Kernels that stay composed: of storage, and those that few runs use. */
type Composed = "upload" | "read" | "dispose" | "reshape" | "tiledCrossEntropy";

/** Fused kernels for the WebGPU engine, in WGSL. Sums have a fixed order, so that the same inputs give the same bits. */
export function createWebgpuKernels(programs: GpuPrograms): Omit<Kernels<tf.Tensor>, Composed> {
  const context = createWebgpuContext(programs);
  return {
    ...linearKernels(context),
    ...rmsNormKernels(context),
    ...attentionKernels(context),
    ...elementwiseKernels(context),
    ...crossEntropyKernels(context),
    ...distillationKernels(context),
    ...rowKernels(context),
  };
}
