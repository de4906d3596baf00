import { placeOf, STEP, WORK } from "../recording.ts";
import { type StepTotals, STRIDE, WORK_FIELDS } from "../stepTotals.ts";
import { SIZE } from "../recording.ts";
import type { LaneReplay } from "./laneReplay.ts";
import type { ThreadTrack } from "./threadTrack.ts";

/** Takes in the own recording up to the number `head` and those of other threads in order of time; true when that closed a step. */
export function replayTogether(replay: LaneReplay, totals: StepTotals, head: number): boolean {
  for (const track of replay.tracks) look(replay, totals, track);
  let closed = false;
  while (replay.tail !== head) {
    let first: ThreadTrack | undefined;
    let firstTime = replay.nextTime();
    let second = Infinity;
    for (const track of replay.tracks) {
      if (track.tail === track.end) continue;
      const time = nextTime(track);
      if (time < firstTime) {
        second = firstTime;
        firstTime = time;
        first = track;
      } else if (time < second) second = time;
    }
    if (first) runTrack(replay, totals, first, second);
    else if (replay.runOwn(head, second)) closed = true;
  }
  return closed;
}

/** Sees how far another thread has come; a ring that may be overwritten while it is read is given up. */
function look({ account, laneTotals }: LaneReplay, totals: StepTotals, track: ThreadTrack): void {
  track.end = track.head();
  const unread = (track.end - track.tail) | 0;
  if (unread <= SIZE / 2) return;
  track.tail = track.end;
  totals.dropped += unread;
  for (const lane of track.lanes) {
    account.forget(lane);
    laneTotals.dropped |= 1 << lane;
  }
}

/** Takes in another thread's boundaries past the time `limit`, ns. Its steps are its own. */
function runTrack(
  { account, causeSums }: LaneReplay,
  { sections }: StepTotals,
  track: ThreadTrack,
  limit: number,
): void {
  const { words, floats } = track.recording;
  while (track.tail !== track.end) {
    const at = placeOf(track.tail);
    const code = words[at * 2 + 2]!;
    const slot = track.slots[code >> 4]!;
    const kind = code & 15;
    if (kind === WORK) sections[slot * STRIDE + WORK_FIELDS + words[at * 2 + 3]!]! += floats[at]!;
    else {
      const time = track.timeAt(at);
      if (time > limit) return;
      if (kind < STEP) {
        causeSums.point(track.causes, track.tail);
        account.moveTo(time);
        account.apply(kind, slot);
      }
    }
    track.tail = (track.tail + 1) | 0;
  }
}

/** Time of a track's next boundary; work has none and goes first. */
function nextTime({ recording, timeAt, tail }: ThreadTrack): number {
  const at = placeOf(tail);
  return (recording.words[at * 2 + 2]! & 15) === WORK ? -Infinity : timeAt(at);
}
