import { internalsOf, type TimerInternals } from "../internals.ts";
import type { SectionInfo } from "../section.ts";
import type { Timer } from "../timer.ts";

/** A timer's recording, to be handed to another thread. */
export interface SharedTimer {
  /** Memory that both threads see. */
  readonly buffer: ArrayBufferLike;
  /** The engine's totals at every boundary; null when nobody observes them. */
  readonly causes: ArrayBufferLike | null;
  /** By slot, the step in slot 0. */
  readonly sections: readonly SectionInfo[];
}

/**
 * What another thread needs to show this timer's lanes: a message to post. The timer takes no new sections afterwards.
 *
 * @throws TypeError unless the timer was made with `shared`.
 */
export function shareTimer(timer: Timer): SharedTimer {
  const internals = internalsOf(timer);
  const { buffer } = internals.recorder.recording.words;
  if (buffer instanceof ArrayBuffer)
    throw new TypeError("shareTimer: the timer's recording is not shared; make it with createTimer({ shared: true })");
  closeSections(internals, "shareTimer");
  return { buffer, causes: internals.causes?.buffer ?? null, sections: internals.infos };
}

/** Refuses new sections, since the names are told. */
export function closeSections(internals: TimerInternals, by: string): void {
  internals.add = ({ name }) => {
    throw new Error(`timer: section "${name}" comes after ${by}(), which has told its names; make it before`);
  };
}
