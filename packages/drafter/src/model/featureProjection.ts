import type { Ops, Tensor } from "@dflash/ops";
import type { DrafterConfig } from "../config/drafterConfig.ts";

/**
 * What the target computed for T tokens: the captured layers' outputs in the order of `targetLayerIds`, joined on the last
 * axis, [T, K·H], or one tensor each, [T, H].
 */
export type TargetFeatures = Tensor | readonly Tensor[];

/** Makes of a target's features what all layers of a drafter attend to, [T, H]. */
export type FeatureProjection = (features: TargetFeatures) => Tensor;

/** hidden_norm(fc(features)); of split features as a sum of K products, without joining them. */
export function createFeatureProjection(
  ops: Ops,
  config: DrafterConfig,
  weight: (name: string) => Tensor,
): FeatureProjection {
  const { hiddenSize, epsilon } = config;
  const layers = config.targetLayerIds.length;
  const check = (shape: readonly number[], width: number): void => {
    if (shape.length === 2 && shape[1] === width) return;
    const layout = `${layers} target layers of ${hiddenSize}`;
    throw new Error(`drafter: the features have shape [${shape.join(", ")}], expected [T, ${width}]: ${layout}`);
  };
  const product = (features: TargetFeatures): Tensor => {
    if ("dispose" in features) {
      check(features.shape, layers * hiddenSize);
      return ops.linear(features, weight("fc"));
    }
    if (features.length !== layers)
      throw new Error(`drafter: the features are of ${features.length} target layers, expected ${layers}`);
    for (const { shape } of features) check(shape, hiddenSize);
    return ops.splitLinear(features, weight("fc"));
  };
  return (features) => ops.rmsNorm(product(features), weight("hidden_norm"), epsilon);
}
