import type { Recorder } from "./recorder.ts";
import type { Recording } from "./recording.ts";
import type { Replay, Track } from "./replay.ts";
import type { SectionInfo, Timer } from "./timer.ts";

/** A recording whose spans can be read. */
export interface RecordingSource {
  readonly recording: Recording;
  /** By the recording's own slots, the step in slot 0. */
  readonly sections: readonly SectionInfo[];
  /** Whether it is the timer's own. */
  readonly local: boolean;
  /** Boundaries written so far, modulo 2^32. */
  head(): number;
}

/** The parts of a timer that this package's other functions work on. */
export interface TimerInternals {
  readonly recorder: Recorder;
  /** Its recording on its way through the replay. */
  readonly own: Track;
  readonly replay: Replay;
  /** By slot, the step in slot 0. */
  readonly infos: readonly SectionInfo[];
  readonly lanes: readonly string[];
  readonly hasCauses: boolean;
  /** Slot of a new section. */
  addSection(info: SectionInfo, local: boolean): number;
  laneIndex(name: string, local: boolean): number;
  /** Refuses sections from now on. */
  freeze(): void;
  /** The own recording, then those of other threads. */
  readonly sources: RecordingSource[];
  /** Replays what is recorded up to the last own boundary; true when that closed a step. */
  drain: () => boolean;
  /** Leaves out what other threads recorded while the timer was off. */
  skip: () => void;
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
