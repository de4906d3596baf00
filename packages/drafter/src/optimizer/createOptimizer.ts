import type { Ops, Tensor } from "@dflash/ops";
import type { Timer } from "@dflash/timer";
import type { WeightSource } from "../model/randomWeights.ts";
import type { OptimizerPart, TensorMap, UpdateFigures } from "./optimizerPart.ts";

/** Parts at work on parameters, with their state. */
export interface Optimizer {
  /** All parts' tensors by `<place of the part>.<name>`. */
  readonly state: TensorMap;
  /** Runs all parts, each in its section. */
  update(gradients: TensorMap, gradientNorm: number, count: number): UpdateFigures;
  /** Gives every tensor of the state new values. */
  restore(ops: Ops, values: WeightSource): Promise<void>;
  dispose(): void;
}

export function createOptimizer(parts: readonly OptimizerPart[], parameters: TensorMap, timer: Timer): Optimizer {
  const state = new Map<string, Tensor>();
  const working = parts.map((part, place) => {
    const own = new Map(part.init(parameters));
    for (const [name, tensor] of own) state.set(`${place}.${name}`, tensor);
    return { part, place, own, section: timer.section(part.section, { role: "optimizer" }) };
  });

  return {
    state,
    update(gradients, gradientNorm, count) {
      let figures: UpdateFigures = {};
      for (const { part, section, own } of working) {
        const update = { parameters, gradients, gradientNorm, state: own, count };
        figures = { ...figures, ...section.time(() => part.update(update)) };
      }
      return figures;
    },
    async restore(ops, values) {
      for (const { place, own } of working) {
        for (const [name, { shape }] of own) {
          const key = `${place}.${name}`;
          const restored = ops.upload(await values(key, shape), shape);
          own.get(name)!.dispose();
          own.set(name, restored);
          state.set(key, restored);
        }
      }
    },
    dispose() {
      for (const tensor of state.values()) tensor.dispose();
    },
  };
}
