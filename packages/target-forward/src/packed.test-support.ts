import type { Ops } from "@dflash/ops";
import type { PackedHiddenStates } from "./hiddenStates.ts";
import type { TokenBatch } from "./tokenBatch.ts";

/** A batch of one row whose tokens are `index`, `index` + 1, …. */
export function tokenBatch(index: number, tokens = 4): TokenBatch {
  const ids = Int32Array.from({ length: tokens }, (_, i) => index + i);
  return { index, ids, lossMask: new Uint8Array(tokens).fill(1), rowStarts: Int32Array.of(0, tokens) };
}

/** The batch with a feature on the engine that holds its index. */
export function packedBatch(ops: Ops, index: number): PackedHiddenStates {
  const features = ops.upload(Float32Array.of(index), [1, 1]);
  return { ...tokenBatch(index, 1), features, last: null, dispose: () => features.dispose() };
}
