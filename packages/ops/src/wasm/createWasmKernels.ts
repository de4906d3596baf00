import type { WasmHeap } from "@dflash/engine";
import type * as tf from "@tensorflow/tfjs-core";
import type { Kernels } from "../kernels.ts";
import { attentionKernels } from "./attentionKernels.ts";
import { crossEntropyKernels } from "./crossEntropyKernels.ts";
import { distillationKernels } from "./distillationKernels.ts";
import { elementwiseKernels } from "./elementwiseKernels.ts";
import { linearKernels } from "./linearKernels.ts";
import { rmsNormKernels } from "./rmsNormKernels.ts";
import { rowKernels } from "./rowKernels.ts";
import { splitLinearKernels } from "./splitLinearKernels.ts";
import { createWasmContext } from "./wasmContext.ts";

/** Kernels that stay composed: of storage, and those that few runs use. */
type Composed = "upload" | "read" | "dispose" | "reshape" | "tiledCrossEntropy" | "scaleRowsInPlace";

/**
 * Fused kernels for the WASM engine: a SIMD module of our own that computes on the heap of tfjs's backend, in the engine's
 * threads, with the same bits for any number of them.
 */
export function createWasmKernels(heap: WasmHeap): Omit<Kernels<tf.Tensor>, Composed> {
  const context = createWasmContext(heap);
  return {
    ...linearKernels(context),
    ...splitLinearKernels(context),
    ...rmsNormKernels(context),
    ...attentionKernels(context),
    ...elementwiseKernels(context),
    ...crossEntropyKernels(context),
    ...distillationKernels(context),
    ...rowKernels(context),
  };
}
