import { internalsOf } from "../internals.ts";
import { CAUSES } from "../recording.ts";
import type { SectionInfo } from "../section.ts";
import type { Timer } from "../timer.ts";

/** A timer's recording, to be handed to another thread. */
export interface SharedTimer {
  /** Memory that both threads see. */
  readonly buffer: ArrayBufferLike;
  /** Whether its boundaries hold causes. */
  readonly causes: boolean;
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
  const { buffer, stride } = internals.recorder.recording;
  if (buffer instanceof ArrayBuffer)
    throw new TypeError("shareTimer: the timer's recording is not shared; make it with createTimer({ shared: true })");
  internals.frozen = "comes after shareTimer(), which has told its names; make it before";
  return { buffer, causes: stride > CAUSES, sections: internals.registry.infos };
}
