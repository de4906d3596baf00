import type { TensorflowOps } from "@dflash/engine";
import type * as tf from "@tensorflow/tfjs-core";
import type { Kernels } from "../../kernels.ts";
import { attentionKernels } from "../attentionKernels.ts";
import { layerKernels } from "../layerKernels.ts";
import type { TensorflowContext } from "../tensorflowContext.ts";
import { cpuAttentionKernels } from "./cpuAttentionKernels.ts";
import { cpuLayerKernels } from "./cpuLayerKernels.ts";
import { cpuUpdateKernels } from "./cpuUpdateKernels.ts";
import { leaveLargeValues } from "./leaveLargeValues.ts";

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

/** Threads up to which even large values take less time in one of them, which makes one pass where TensorFlow makes several. */
const fewThreads = 4;

/** Kernels for a CPU of ops that the binding brings; none where it lacks one. */
export function cpuKernels(
  raw: TensorflowOps,
  context: TensorflowContext,
  threads: number,
): Partial<Kernels<tf.Tensor>> {
  if (!opsOfOurs.every(raw.has)) return {};
  const alone = { ...cpuLayerKernels(context), ...cpuAttentionKernels(context), ...cpuUpdateKernels(context) };
  if (threads <= fewThreads) return alone;
  const shared = { ...layerKernels(context), ...attentionKernels(context, "cpu") };
  return { ...alone, ...leaveLargeValues(alone, shared) };
}
