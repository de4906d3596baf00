import type { Account } from "./account.ts";
import type { CauseSums } from "./causeSums.ts";
import type { TimeAt } from "./clock.ts";
import { CAUSE_COUNT, CAUSES, HEADER, type Recording, START, STOP, WORK } from "./recording.ts";
import { type StepTotals, STRIDE, WORK_FIELDS } from "./stepTotals.ts";

/** The timer's own recording on its way into its account. */
export interface Replay {
  /** Boundaries taken in so far, modulo 2^32. */
  tail(): number;
  /** Time of the next boundary, ns; work has none and goes first. */
  nextTime(): number;
  /** Takes in boundaries up to the number `head` or past the time `limit`; true when that closed a step. */
  run(head: number, limit: number): boolean;
}

/** What a replay reads, and what it counts into. */
export interface ReplayOptions {
  recording: Recording;
  timeAt: TimeAt;
  account: Account;
  totals: StepTotals;
  causes: CauseSums;
}

/** Makes a replay from the recording's begin. */
export function createReplay({ recording, timeAt, account, totals, causes }: ReplayOptions): Replay {
  const { words, floats, size, stride } = recording;
  const hasCauses = stride > CAUSES;
  const place = (boundary: number): number => HEADER + (boundary & (size - 1)) * stride;
  let tail = 0;

  /** Takes in the start at `at` and the stop right after it, if that is all there is to them. */
  function leaf(at: number, start: number, limit: number): boolean {
    const next = place(tail);
    const code = words[at * 2 + 2]!;
    if (words[next * 2 + 2] !== code + STOP) return false;
    const stop = timeAt(next);
    if (stop > limit || !account.leaf(code >> 4, start, stop)) return false;
    tail = (tail + 1) | 0;
    if (!hasCauses) return true;
    for (let column = 0; column < CAUSE_COUNT; column += 1)
      totals.causes[(code >> 4) * CAUSE_COUNT + column]! +=
        floats[next + CAUSES + column]! - floats[at + CAUSES + column]!;
    return true;
  }

  return {
    tail: () => tail,
    nextTime() {
      const at = place(tail);
      return (words[at * 2 + 2]! & 15) === WORK ? -Infinity : timeAt(at);
    },
    run(head, limit) {
      while (tail !== head) {
        const at = place(tail);
        const code = words[at * 2 + 2]!;
        const kind = code & 15;
        if (kind === WORK) {
          tail = (tail + 1) | 0;
          totals.sections[(code >> 4) * STRIDE + WORK_FIELDS + words[at * 2 + 3]!]! += floats[at]!;
          continue;
        }
        const time = timeAt(at);
        if (time > limit) return false;
        tail = (tail + 1) | 0;
        if (kind === START && tail !== head && leaf(at, time, limit)) continue;
        account.moveTo(time);
        if (hasCauses) causes.point(at);
        if (account.apply(kind, code >> 4)) return true;
      }
      return false;
    },
  };
}
