import type { TimeAt } from "../clock.ts";
import type { Recording } from "../recording.ts";

/** Another thread's recording on its way into this timer's account. */
export interface ThreadTrack {
  readonly recording: Recording;
  readonly timeAt: TimeAt;
  readonly causes: Float64Array | undefined;
  /** Slots here by slots there. */
  readonly slots: readonly number[];
  readonly lanes: readonly number[];
  /** Boundaries written so far, modulo 2^32. */
  head(): number;
  /** Boundaries taken in so far. */
  tail: number;
  /** Boundaries to take in now. */
  end: number;
}
