import type { StepTimes } from "@dflash/log-formatter";

/** Times steps without sections, for runs without telemetry. */
export interface StepClock {
  /** The times of the step that ends now. */
  step(): StepTimes;
  /** Leaves time that has passed since the last step, such as an evaluation's, out of the one under way, ms. */
  leaveOut(ms: number): void;
}

/** Starts with the first step. */
export function createStepClock(now: () => number = () => performance.now()): StepClock {
  const start = now();
  let step = 0;
  let previous = start;
  return {
    step() {
      const end = now();
      const ms = end - previous;
      const startMs = previous - start;
      previous = end;
      step++;
      return { step, startMs, ms, residualMs: ms, overheadUs: 0, sections: {}, lanes: {} };
    },
    leaveOut(ms) {
      previous += ms;
    },
  };
}
