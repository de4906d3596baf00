import type { Ops } from "@dflash/ops";
import type { OptimizerPart } from "./optimizerPart.ts";

/** Settings of {@link clipByGlobalNorm}. */
export interface ClipOptions {
  /** What it computes with. */
  readonly ops: Ops;
  /** 1 unless given. */
  readonly maxNorm?: number;
}

/** Scales all gradients by one factor when their global norm exceeds `maxNorm`, as PyTorch's `clip_grad_norm_`. */
export function clipByGlobalNorm({ ops, maxNorm = 1 }: ClipOptions): OptimizerPart {
  return {
    section: "drafter/clip",
    init: () => new Map(),
    update({ gradients, gradientNorm }) {
      const factor = maxNorm / (gradientNorm + 1e-6);
      if (factor < 1) for (const gradient of gradients.values()) ops.scaleInPlace(gradient, factor);
      return {};
    },
  };
}
