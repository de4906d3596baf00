import type { StepResult } from "./stepResult.ts";

/** What a finished run did. */
export interface TrainSummary {
  /** Steps of the whole run, skipped ones and those before included. */
  readonly steps: number;
  /** Of this part of the run, as are tokens and anchors. */
  readonly skipped: number;
  /** Tokens of the batches. */
  readonly tokens: number;
  /** Blocks trained on. */
  readonly anchors: number;
  /** What ended the run: all steps done, no more batches, the signal, or too many non-finite steps in a row. */
  readonly reason: "steps" | "source" | "signal" | "non-finite";
}

/** Payloads of the run's events. */
export interface TrainEvents {
  /** After every step, before the timer's report of it. */
  step: StepResult;
  /** Also after a step that left the parameters alone. */
  skip: StepResult;
  /** After a checkpoint was saved; the number of steps done. */
  checkpoint: { readonly step: number };
  /** After an evaluation: the number of steps done and the acceptance length. */
  tau: { readonly step: number; readonly acceptanceLength: number | null };
  /** Once, when the run is over. */
  end: TrainSummary;
}

/** Subscribes to, or unsubscribes from, an event. A listener that throws is reported once and never reaches the run. */
export type Listen = <Name extends keyof TrainEvents>(
  event: Name,
  listener: (payload: TrainEvents[Name]) => unknown,
) => TrainRun;

/** A run that has been started. */
export interface TrainRun {
  /** Subscribes to an event. */
  readonly on: Listen;
  /** Subscribes to an event's next emit. */
  readonly once: Listen;
  /** Unsubscribes. */
  readonly off: Listen;
  /** Rejects when the source or a step fails. */
  readonly finished: Promise<TrainSummary>;
}
