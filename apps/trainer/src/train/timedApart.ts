import type { ForwardTimer } from "@dflash/causal-lm";
import type { Timer } from "@dflash/timer";

/** A timer for a model that others use, too. */
export interface TimedApart {
  readonly timer: ForwardTimer;
  /** Does some work within which the model's sections are not timed. */
  readonly untimed: <T>(work: () => Promise<T>) => Promise<T>;
}

/** Tells a model's work for the training steps from its work for others, such as an evaluation within a step. */
export function timedApart(timer: Pick<Timer, "section">): TimedApart {
  let isTimed = true;
  return {
    timer: {
      section(name, options) {
        const section = timer.section(name, options);
        return { time: (fn) => (isTimed ? section.time(fn) : fn()) };
      },
    },
    async untimed(work) {
      isTimed = false;
      try {
        return await work();
      } finally {
        isTimed = true;
      }
    },
  };
}
