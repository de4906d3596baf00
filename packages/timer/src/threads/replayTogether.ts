import type { TimerInternals } from "../internals.ts";
import { HEADER, STEP, WORK } from "../recording.ts";
import { STRIDE, WORK_FIELDS } from "../stepTotals.ts";
import type { ThreadTrack } from "./threadTrack.ts";

/** Makes a timer replay its own recording and those of other threads in order of time. */
export function replayTogether(internals: TimerInternals, others: readonly ThreadTrack[]): void {
  const { replay, recorder, account, causes, totals } = internals;

  /** Sees how far the other threads have come; a ring that may be overwritten while it is read is given up. */
  function look(): void {
    for (const other of others) {
      other.end = other.head();
      const unread = (other.end - other.tail) | 0;
      if (unread <= other.recording.size / 2) continue;
      other.tail = other.end;
      totals.dropped += unread;
      for (const lane of other.lanes) {
        account.forget(lane);
        totals.droppedLanes |= 1 << lane;
      }
    }
  }

  /** Takes in another thread's boundaries past the time `limit`, ns. Its steps are its own. */
  function runOther(other: ThreadTrack, limit: number): void {
    const { words, floats } = other.recording;
    causes.point(0);
    while (other.tail !== other.end) {
      const at = place(other);
      const code = words[at * 2 + 2]!;
      const slot = other.slots[code >> 4]!;
      const kind = code & 15;
      if (kind === WORK) totals.sections[slot * STRIDE + WORK_FIELDS + words[at * 2 + 3]!]! += floats[at]!;
      else {
        const time = other.timeAt(at);
        if (time > limit) return;
        if (kind < STEP) {
          account.moveTo(time);
          account.apply(kind, slot);
        }
      }
      other.tail = (other.tail + 1) | 0;
    }
  }

  internals.skip = () => {
    for (const other of others) other.tail = other.head();
  };
  internals.drain = () => {
    look();
    let closed = false;
    while (replay.tail() !== recorder.head()) {
      let first: ThreadTrack | undefined;
      let firstTime = replay.nextTime();
      let second = Infinity;
      for (const other of others) {
        if (other.tail === other.end) continue;
        const time = nextTime(other);
        if (time < firstTime) {
          second = firstTime;
          firstTime = time;
          first = other;
        } else if (time < second) second = time;
      }
      if (first) runOther(first, second);
      else if (replay.run(recorder.head(), second)) closed = true;
    }
    return closed;
  };
}

function place({ recording, tail }: ThreadTrack): number {
  return HEADER + (tail & (recording.size - 1)) * recording.stride;
}

/** Time of a track's next boundary; work has none and goes first. */
function nextTime(track: ThreadTrack): number {
  const at = place(track);
  return (track.recording.words[at * 2 + 2]! & 15) === WORK ? -Infinity : track.timeAt(at);
}
