import type { PackedHiddenStates } from "@dflash/target-forward";
import type { Section, Timer } from "@dflash/timer";
import { createGuardedEvents, type GuardedEvents } from "./guardedEvents.ts";
import type { StepResult } from "./stepResult.ts";
import type { TrainStep } from "./trainStep.ts";

export interface TrainOptions {
  /** Batches with their hidden states; each is disposed after its step. */
  readonly source: AsyncIterable<PackedHiddenStates>;
  readonly step: TrainStep;
  /** Steps at most, skipped ones included. */
  readonly steps: number;
  /** Every step runs in `timer.step`; receives the section `checkpoint`. */
  readonly timer: Timer;
  /** Ends the run after the step that is under way. */
  readonly signal?: AbortSignal;
  /** Calls `save` after every `every`-th step. */
  readonly checkpoint?: { readonly every: number; readonly save: (step: number) => Promise<void> };
}

export interface TrainSummary {
  /** Steps done, skipped ones included. */
  readonly steps: number;
  readonly skipped: number;
  readonly tokens: number;
  readonly anchors: number;
  /** What ended the run: all steps done, no more batches, or the signal. */
  readonly reason: "steps" | "source" | "signal";
}

/** Payloads of the run's events. */
export interface TrainEvents {
  /** After every step, before the timer's report of it. */
  step: StepResult;
  /** Also after a step that left the parameters alone. */
  skip: StepResult;
  /** After a checkpoint was saved; the number of steps done. */
  checkpoint: { readonly step: number };
  end: TrainSummary;
}

/** Subscribes to, or unsubscribes from, an event. A listener that throws is reported once and never reaches the run. */
type Listen = <Name extends keyof TrainEvents>(
  event: Name,
  listener: (payload: TrainEvents[Name]) => unknown,
) => TrainRun;

/** A run that has been started. */
export interface TrainRun {
  readonly on: Listen;
  readonly once: Listen;
  readonly off: Listen;
  /** Rejects when the source or a step fails. */
  readonly finished: Promise<TrainSummary>;
}

/** Trains on batch after batch. Starts once the caller's synchronous code has run, so that listeners miss nothing. */
export function trainDrafter(options: TrainOptions): TrainRun {
  for (const [name, value] of Object.entries({ steps: options.steps, "checkpoint.every": options.checkpoint?.every })) {
    if (value !== undefined && (!Number.isInteger(value) || value < 1))
      throw new RangeError(`${name} is ${value}, expected an integer of at least 1`);
  }
  const saving = options.timer.section("checkpoint", { role: "checkpoint" });
  const events = createGuardedEvents<TrainEvents>("drafter");
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
    finished: Promise.resolve().then(async () => run(options, saving, events)),
  };
  return training;
}

async function run(options: TrainOptions, saving: Section, events: GuardedEvents<TrainEvents>): Promise<TrainSummary> {
  const { source, step, steps, timer, signal, checkpoint } = options;
  const done = { steps: 0, skipped: 0, tokens: 0, anchors: 0 };

  const trainOn = async (batch: PackedHiddenStates): Promise<void> => {
    try {
      const result = await step(batch);
      done.steps++;
      done.tokens += result.tokens;
      done.anchors += result.anchors;
      events.emit("step", result);
      if (result.skipped !== null) {
        done.skipped++;
        events.emit("skip", result);
      }
    } finally {
      batch.dispose();
    }
    if (checkpoint && done.steps % checkpoint.every === 0) {
      await saving.time(async () => checkpoint.save(done.steps));
      events.emit("checkpoint", { step: done.steps });
    }
  };

  let reason: TrainSummary["reason"] = "source";
  try {
    for await (const batch of source) {
      await timer.step(async () => trainOn(batch));
      if (done.steps === steps) reason = "steps";
      else if (signal?.aborted) reason = "signal";
      if (reason !== "source") break;
    }
  } catch (error) {
    // A source that has the signal too may end its wait with the signal's error.
    if (!signal?.aborted || error !== signal.reason) throw error;
    reason = "signal";
  }
  const summary = { ...done, reason };
  events.emit("end", summary);
  return summary;
}
