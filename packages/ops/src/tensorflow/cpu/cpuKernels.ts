import type { TensorflowOps } from "@dflash/engine";
import type * as tf from "@tensorflow/tfjs-core";
import type { Kernels } from "../../kernels.ts";
import type { TensorflowContext } from "../tensorflowContext.ts";
import { cpuAttentionKernels } from "./cpuAttentionKernels.ts";
import { cpuLayerKernels } from "./cpuLayerKernels.ts";
import { cpuUpdateKernels } from "./cpuUpdateKernels.ts";

/** What they run, besides TensorFlow's own ops. */
const opsOfOurs = [
  "DflashRmsNorm",
  "DflashRmsNormGradient",
  "DflashSwiglu",
  "DflashSwigluGradient",
  "DflashRotary",
  "DflashTakeHeads",
  "DflashGiveHeads",
  "DflashAttentionShares",
  "DflashAttentionSharesGradient",
  "DflashAdamW",
  "DflashSumOfSquares",
  "DflashAdd",
  "DflashScale",
] as const;

/** Kernels for a CPU of ops that the binding brings; none where it lacks one. */
export function cpuKernels(raw: TensorflowOps, context: TensorflowContext): Partial<Kernels<tf.Tensor>> {
  if (!opsOfOurs.every(raw.has)) return {};
  return { ...cpuLayerKernels(context), ...cpuAttentionKernels(context), ...cpuUpdateKernels(context) };
}
