import type { Ops, Tensor } from "@dflash/ops";
import type { OptimizerPart } from "./optimizerPart.ts";
import type { Schedule } from "./schedule.ts";

export interface AdamWPartOptions {
  readonly ops: Ops;
  /** By the number of updates done before. */
  readonly learningRate: Schedule;
  /** 0.9 unless given. */
  readonly beta1?: number;
  /** 0.999 unless given. */
  readonly beta2?: number;
  /** 1e-8 unless given. */
  readonly epsilon?: number;
  /** Decoupled, on every parameter, norms included, as the published recipes that use any have it; 0 unless given. */
  readonly weightDecay?: number;
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
      const settings = { learningRate, beta1, beta2, epsilon, weightDecay, step: count };
      for (const [name, parameter] of parameters) {
        const moments = { mean: state.get(`mean/${name}`)!, variance: state.get(`variance/${name}`)! };
        ops.adamW(parameter, gradients.get(name)!, moments, settings);
      }
      return { learningRate };
    },
  };
}
