import type { Ops, Tensor } from "@dflash/ops";
import type { FeatureLayout, HiddenStates, PackedHiddenStates, SplitHiddenStates } from "../hiddenStates.ts";
import type { TargetHiddenStates } from "../targetModel.ts";
import type { TokenBatch } from "../tokenBatch.ts";

/** What is packed, and how. */
export interface PackOptions {
  readonly ops: Ops;
  readonly layerIds: readonly number[];
  readonly layout: FeatureLayout;
}

/**
 * Makes hidden states of what a model captured, one feature a layer id. Joined, the features move into one tensor and are
 * freed; split, they are handed over as they are. The result takes over `last`.
 *
 * @throws {RangeError} When the model captured another number of layers or tokens than it was asked for; frees all then.
 */
export function packHiddenStates(
  { ops, layerIds, layout }: PackOptions,
  batch: TokenBatch,
  { features, last }: TargetHiddenStates,
): PackedHiddenStates | SplitHiddenStates {
  const shapes = features.map(({ shape }) => shape[0]);
  if (shapes.length !== layerIds.length || shapes.some((tokens) => tokens !== batch.ids.length)) {
    disposeAll(features, last);
    throw new RangeError(
      `batch ${batch.index}: the model captured layers of ${shapes.join(", ") || "no"} tokens, expected ${layerIds.length} layers of ${batch.ids.length}`,
    );
  }
  if (layout === "split") return { ...batch, features, last, dispose: () => disposeAll(features, last) };
  const joined = ops.concat(features, -1);
  for (const feature of features) if (feature !== last) feature.dispose();
  return { ...batch, features: joined, last, dispose: () => disposeAll([joined], last) };
}

/** The tensors that hold the features. */
export function featureTensors({ features }: HiddenStates<Tensor | readonly Tensor[]>): readonly Tensor[] {
  return "dispose" in features ? [features] : features;
}

function disposeAll(features: readonly Tensor[], last: Tensor | null): void {
  for (const feature of features) feature.dispose();
  last?.dispose();
}
