import type { Engine } from "@dflash/engine";
import type * as tf from "@tensorflow/tfjs-core";
import { attentionOp } from "./attentionOp.ts";
import { createComposedKernels } from "./composed/createComposedKernels.ts";
import type { Kernels } from "./kernels.ts";
import { layerOps } from "./layerOps.ts";
import { lossOps } from "./lossOps.ts";
import { createOpContext } from "./opContext.ts";
import type { Ops } from "./ops.ts";
import { recordOps } from "./record.ts";
import { rowOps } from "./rowOps.ts";
import { createScopes } from "./scope.ts";
import { storageOps } from "./storageOps.ts";
import { updateOps } from "./updateOps.ts";
import { createTensorflowKernels } from "./tensorflow/createTensorflowKernels.ts";
import { createWebgpuKernels } from "./webgpu/createWebgpuKernels.ts";
import { createWasmKernels } from "./wasm/createWasmKernels.ts";

/** Settings of {@link createOps}. */
export interface CreateOpsOptions {
  /** Use the engine's fused kernels where there are any; without them every op is composed from plain tensor ops, slowly. On unless given. */
  fused?: boolean;
}

/** Native TensorFlow's products of many rows are faster, and divide better among its threads: 32 MiB a tensor. */
const logitsAtOnce = 2 ** 23;

/** The kernels that the engine has a faster form of. */
function fusedFor({ name, threads, wasmHeap, tensorflowOps, gpuPrograms }: Engine): Partial<Kernels<tf.Tensor>> {
  if (wasmHeap !== null) return createWasmKernels(wasmHeap);
  if (tensorflowOps !== null)
    return createTensorflowKernels(tensorflowOps, name === "tensorflow-gpu" ? "gpu" : "cpu", threads);
  if (gpuPrograms !== null) return createWebgpuKernels(gpuPrograms);
  return {};
}

/** The differentiable transformer ops on a started engine. */
export function createOps(engine: Engine, { fused = true }: CreateOpsOptions = {}): Ops {
  const composed = createComposedKernels(engine);
  const fusedKernels = fused ? fusedFor(engine) : {};
  const kernels = { ...composed, ...fusedKernels };
  const context = createOpContext(kernels, createScopes());
  return {
    engine,
    forms: Object.fromEntries(Object.keys(composed).map((name) => [name, name in fusedKernels ? "fused" : "composed"])),
    scope: context.scopes.run,
    unscoped: context.scopes.suspend,
    ...storageOps(context),
    ...recordOps(context),
    ...layerOps(context),
    ...attentionOp(context),
    ...rowOps(context),
    ...lossOps(context, engine.tensorflowOps === null ? 0 : logitsAtOnce),
    ...updateOps(context),
  };
}
