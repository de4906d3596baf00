import type { TimeAt } from "./clock.ts";
import type { Recorder } from "./recorder.ts";
import type { Recording } from "./recording.ts";
import type { Replay } from "./replay.ts";
import type { LateColumns, SectionReport } from "./report.ts";
import type { SectionInfo } from "./section.ts";
import type { StepTotals } from "./stepTotals.ts";
import type { Timer } from "./timer.ts";

/** A recording whose spans can be read. */
export interface RecordingSource {
  readonly recording: Recording;
  readonly timeAt: TimeAt;
  /** By the recording's own slots, the step in slot 0. */
  readonly infos: readonly SectionInfo[];
  /** Whether it is the timer's own. */
  readonly local: boolean;
  /** The engine's totals at every boundary, when they are observed. */
  readonly causes: Float64Array | undefined;
  /** Boundaries written so far, modulo 2^32. */
  head(): number;
}

/** What a replay reads, and what it counts into. */
export interface ReplaySource {
  readonly recorder: Recorder;
  readonly timeAt: TimeAt;
  readonly totals: StepTotals;
  /** By slot, the step in slot 0. */
  readonly infos: SectionInfo[];
  /** Called on a call without a partner, after it was counted. */
  readonly refuse: ((slot: number, kind: number) => void) | undefined;
}

/** The parts of a timer that the package's other entries work on. */
export interface TimerInternals extends ReplaySource {
  /** Reading of the clock that is time 0. */
  readonly origin: bigint;
  replay: Replay;
  /** Late columns that were announced, null. */
  readonly late: LateColumns;
  /** An object with every section's name, to be copied. */
  byName: Record<string, SectionReport>;
  /** Recordings of other threads. */
  readonly others: RecordingSource[];
  /** The engine's totals at every own boundary; left out when nobody observes them. */
  causes?: Float64Array;
  /** Slot of a new section. */
  add: (info: SectionInfo) => number;
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
