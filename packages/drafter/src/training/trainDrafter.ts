import { createGuardedEmitter, type GuardedEmitter, type Section, type Timer } from "@dflash/timer";
import type { StepResult } from "./stepResult.ts";
import type { TrainBatch } from "./trainBatch.ts";
import type { Listen, TrainEvents, TrainRun, TrainSummary } from "./trainRun.ts";
import type { TrainStep } from "./trainStep.ts";

/** Settings of {@link trainDrafter}. */
export interface TrainOptions {
  /** Batches with their hidden states; each is disposed once its gradients are there. */
  readonly source: AsyncIterable<TrainBatch>;
  /** What is done with each batch. */
  readonly step: TrainStep;
  /** Steps of the whole run at most, skipped ones included. */
  readonly steps: number;
  /** Steps that were done before; 0 unless given. */
  readonly stepsBefore?: number;
  /** Batches a step, of which the last step may get fewer; 1 unless given. */
  readonly accumulate?: number;
  /** Non-finite steps in a row that end the run; 10 unless given. */
  readonly mostSkipped?: number;
  /** Every step runs in `timer.step`; receives the sections `checkpoint` and `eval`. */
  readonly timer: Timer;
  /** Ends the run after the step that is under way. */
  readonly signal?: AbortSignal;
  /** Calls `save` after every `every`-th step, and at the end of the run, whatever ended it but an error. */
  readonly checkpoint?: {
    /** Steps between two calls. */
    readonly every: number;
    /** Writes the checkpoint of the step that has just ended. */
    readonly save: (step: number) => Promise<void>;
  };
  /** Calls `measure` after every `every`-th step, before its checkpoint, and at the end of a complete run that is at least as long. Timed as section `eval`. */
  readonly evaluation?: {
    /** Steps between two calls. */
    readonly every: number;
    /** Gives the drafter's real acceptance length, or null where there was no round to count. One that the signal ends counts for nothing. */
    readonly measure: (step: number) => Promise<number | null>;
  };
}

/** Trains on batch after batch. Starts once the caller's synchronous code has run, so that listeners miss nothing. */
export function trainDrafter(options: TrainOptions): TrainRun {
  const { steps, stepsBefore = 0, accumulate = 1, mostSkipped = 10, checkpoint, evaluation } = options;
  for (const [name, value] of Object.entries({
    steps,
    accumulate,
    mostSkipped,
    "checkpoint.every": checkpoint?.every,
    "evaluation.every": evaluation?.every,
  })) {
    if (value !== undefined && (!Number.isInteger(value) || value < 1))
      throw new RangeError(`${name} is ${value}, expected an integer of at least 1`);
  }
  if (!Number.isInteger(stepsBefore) || stepsBefore < 0 || stepsBefore > steps)
    throw new RangeError(`stepsBefore is ${stepsBefore}, expected an integer from 0 to steps, ${steps}`);
  const sections = {
    saving: options.timer.section("checkpoint", { role: "checkpoint" }),
    evaluating: options.timer.section("eval", { role: "eval" }),
  };
  const events = createGuardedEmitter<TrainEvents>("drafter");
  const listen =
    (method: "on" | "once" | "off"): Listen =>
    (event, listener) => {
      events[method](event, listener);
      return training;
    };
  const training: TrainRun = {
    on: listen("on"),
    once: listen("once"),
    off: listen("off"),
    finished: Promise.resolve().then(async () =>
      run({ ...options, stepsBefore, accumulate, mostSkipped }, sections, events),
    ),
  };
  return training;
}

type RunOptions = TrainOptions & Required<Pick<TrainOptions, "stepsBefore" | "accumulate" | "mostSkipped">>;

async function run(
  options: RunOptions,
  sections: Readonly<Record<"saving" | "evaluating", Section>>,
  events: GuardedEmitter<TrainEvents>,
): Promise<TrainSummary> {
  const { step, steps, timer, signal, checkpoint, evaluation, accumulate } = options;
  const done = { steps: options.stepsBefore, skipped: 0, tokens: 0, anchors: 0 };
  const batches = options.source[Symbol.asyncIterator]();
  let saved = done.steps;
  let evaluated = done.steps;

  const accumulateOne = async (batch: TrainBatch): Promise<void> => {
    try {
      await step.accumulate(batch);
    } finally {
      batch.dispose();
    }
  };
  const save = async (): Promise<void> => {
    if (!checkpoint || saved === done.steps) return;
    await sections.saving.time(async () => checkpoint.save(done.steps));
    saved = done.steps;
    events.emit("checkpoint", { step: saved });
  };

  const evaluate = async (): Promise<void> => {
    if (!evaluation || evaluated === done.steps) return;
    const acceptanceLength = await sections.evaluating.time(async () => evaluation.measure(done.steps));
    evaluated = done.steps;
    if (acceptanceLength === null && signal?.aborted) return;
    events.emit("tau", { step: evaluated, acceptanceLength });
  };

  const stepFrom = async (first: TrainBatch): Promise<StepResult> => {
    await accumulateOne(first);
    for (let count = 1; count < accumulate; count++) {
      const next = await batches.next();
      if (next.done) break;
      await accumulateOne(next.value);
    }
    const result = await step.update();
    done.steps++;
    done.tokens += result.tokens;
    done.anchors += result.anchors;
    events.emit("step", result);
    if (result.skipped !== null) {
      done.skipped++;
      events.emit("skip", result);
    }
    if (evaluation && done.steps % evaluation.every === 0) await evaluate();
    if (checkpoint && done.steps % checkpoint.every === 0) await save();
    return result;
  };

  const untilDone = async (): Promise<TrainSummary["reason"]> => {
    while (done.steps < steps) {
      if (signal?.aborted) return "signal";
      const first = await batches.next();
      if (first.done) return "source";
      const { skippedInARow } = await timer.step(async () => stepFrom(first.value));
      if (skippedInARow >= options.mostSkipped) return "non-finite";
    }
    return "steps";
  };

  let reason: TrainSummary["reason"];
  try {
    reason = await untilDone();
  } catch (error) {
    // A source that has the signal too may end its wait with the signal's error.
    if (!signal?.aborted || error !== signal.reason) throw error;
    reason = "signal";
  } finally {
    await batches.return?.();
  }
  const complete = reason === "steps" || reason === "source";
  if (evaluation && complete && done.steps >= evaluation.every) await evaluate();
  await save();
  const summary = { ...done, reason };
  events.emit("end", summary);
  return summary;
}
