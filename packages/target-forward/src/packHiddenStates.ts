import type { Ops } from "@dflash/ops";
import type { PackedHiddenStates } from "./packedHiddenStates.ts";
import type { TargetHiddenStates } from "./targetModel.ts";
import type { TokenBatch } from "./tokenBatch.ts";

/**
 * Joins the captured features, one a layer id, on the last axis: [T, layers·hiddenSize]. Frees the features; the result
 * takes over `last`.
 *
 * @throws {RangeError} When the model captured another number of layers or tokens than it was asked for.
 */
export function packHiddenStates(
  ops: Ops,
  batch: TokenBatch,
  { features, last }: TargetHiddenStates,
  layerIds: readonly number[],
): PackedHiddenStates {
  const shapes = features.map(({ shape }) => shape[0]);
  if (shapes.length !== layerIds.length || shapes.some((tokens) => tokens !== batch.ids.length)) {
    throw new RangeError(
      `batch ${batch.index}: the model captured layers of ${shapes.join(", ") || "no"} tokens, expected ${layerIds.length} layers of ${batch.ids.length}`,
    );
  }
  const joined = ops.concat(features, -1);
  for (const feature of features) if (feature !== last) feature.dispose();
  return {
    ...batch,
    features: joined,
    last,
    dispose() {
      joined.dispose();
      last?.dispose();
    },
  };
}
