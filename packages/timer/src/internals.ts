import type { Account } from "./account.ts";
import type { CauseSums } from "./causeSums.ts";
import type { TimeAt } from "./clock.ts";
import type { Recorder } from "./recorder.ts";
import type { Recording } from "./recording.ts";
import type { Registry } from "./registry.ts";
import type { Replay } from "./replay.ts";
import type { SectionInfo } from "./section.ts";
import type { StepTotals } from "./stepTotals.ts";
import type { Timer } from "./timer.ts";

/** A recording whose spans can be read. */
export interface RecordingSource {
  readonly recording: Recording;
  readonly timeAt: TimeAt;
  /** By the recording's own slots, the step in slot 0. */
  readonly sections: readonly SectionInfo[];
  /** Whether it is the timer's own. */
  readonly local: boolean;
  /** Boundaries written so far, modulo 2^32. */
  head(): number;
}

/** The parts of a timer that the package's other entries work on. */
export interface TimerInternals {
  readonly registry: Registry;
  readonly recorder: Recorder;
  readonly replay: Replay;
  readonly account: Account;
  readonly causes: CauseSums;
  readonly totals: StepTotals;
  /** Reading of the clock that is time 0. */
  readonly origin: bigint;
  /** Why there may be no more sections; undefined while there may. */
  frozen?: string;
  /** The own recording, then those of other threads. */
  readonly sources: RecordingSource[];
  /** Takes in what is recorded up to the last own boundary; true when that closed a step. */
  drain(): boolean;
  /** Leaves out what other threads recorded while the timer was off. */
  skip(): void;
}

const known = new WeakMap<object, TimerInternals>();

/** Makes a timer's parts known. */
export function setInternals(timer: Timer, internals: TimerInternals): void {
  known.set(timer, internals);
}

/** The parts of a timer. */
export function internalsOf(timer: object): TimerInternals {
  const internals = known.get(timer);
  if (!internals)
    throw new TypeError(
      "timer: this is no timer, or one of another copy of @dflash/timer; make it with createTimer of this one",
    );
  return internals;
}
