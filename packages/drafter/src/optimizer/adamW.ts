import type { Ops, Tensor } from "@dflash/ops";
import type { OptimizerPart } from "./optimizerPart.ts";
import type { Schedule } from "./schedule.ts";

/** Settings of {@link adamW}. */
export interface AdamWPartOptions {
  /** What it computes with. */
  readonly ops: Ops;
  /** By the number of updates done before. */
  readonly learningRate: Schedule;
  /** 0.9 unless given. */
  readonly beta1?: number;
  /** 0.999 unless given. */
  readonly beta2?: number;
  /** 1e-8 unless given. */
  readonly epsilon?: number;
  /**
   * Decoupled; 0 unless given. A number holds for every parameter, norms included, as in the published recipes that use any;
   * a function makes groups.
   */
  readonly weightDecay?: number | ((name: string, shape: readonly number[]) => number);
}

/** Weight decay of matrices only: norms have none. */
export function decayMatrices(weightDecay: number): (name: string, shape: readonly number[]) => number {
  return (_, shape) => (shape.length > 1 ? weightDecay : 0);
}

/** AdamW with PyTorch's semantics and float32 state; the update of the parameters, so the last part. */
export function adamW(options: AdamWPartOptions): OptimizerPart {
  const { ops, learningRate: schedule, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, weightDecay = 0 } = options;
  return {
    section: "drafter/optimizer",
    init(parameters) {
      const state = new Map<string, Tensor>();
      for (const [name, { shape }] of parameters) {
        state.set(`mean/${name}`, ops.zeros(shape));
        state.set(`variance/${name}`, ops.zeros(shape));
      }
      return state;
    },
    update({ parameters, gradients, state, count }) {
      const learningRate = schedule(count - 1);
      const settings = { learningRate, beta1, beta2, epsilon, step: count };
      for (const [name, parameter] of parameters) {
        const decay = typeof weightDecay === "number" ? weightDecay : weightDecay(name, parameter.shape);
        const moments = { mean: state.get(`mean/${name}`)!, variance: state.get(`variance/${name}`)! };
        ops.adamW(parameter, gradients.get(name)!, moments, { ...settings, weightDecay: decay });
      }
      return { learningRate };
    },
  };
}
