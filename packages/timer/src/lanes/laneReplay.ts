import { type CauseSums, createCauseSums } from "../causes/causeSums.ts";
import { internalsOf, type TimerInternals } from "../internals.ts";
import { placeOf, START, STOP, WORK } from "../recording.ts";
import type { Replay } from "../replay.ts";
import { clearTotals, STRIDE, WORK_FIELDS } from "../stepTotals.ts";
import type { Timer } from "../timer.ts";
import { type Account, createAccount } from "./account.ts";
import { clearLaneTotals, createLaneTotals, type LaneTotals } from "./laneTotals.ts";
import { readLanes } from "./readLanes.ts";
import { createRegistry, type Registry } from "./registry.ts";
import { replayTogether } from "./replayTogether.ts";
import type { ThreadTrack } from "./threadTrack.ts";

/** A replay that tells lanes apart, takes in those of other threads, and sums causes. */
export interface LaneReplay extends Replay {
  readonly registry: Registry;
  readonly account: Account;
  readonly laneTotals: LaneTotals;
  readonly causeSums: CauseSums;
  /** Recordings of other threads. */
  readonly tracks: ThreadTrack[];
  /** Time of the next boundary, ns; work has none and goes first. */
  nextTime(): number;
  /** Takes in own boundaries up to the number `head` or past the time `limit`; true when that closed a step. */
  runOwn(head: number, limit: number): boolean;
}

const known = new WeakMap<TimerInternals, LaneReplay>();

/** The timer's lane replay, which takes the place of its serial one when it is first asked for. */
export function laneReplayOf(timer: Timer): LaneReplay {
  const internals = internalsOf(timer);
  const replay = known.get(internals) ?? createLaneReplay(internals);
  if (internals.replay === replay) return replay;
  known.set(internals, replay);
  const { head } = internals.recorder;
  internals.replay.run(head);
  internals.replay = replay;
  replay.tail = head;
  if (head !== 0) replay.reset();
  return replay;
}

function createLaneReplay(internals: TimerInternals): LaneReplay {
  const { recorder, timeAt, totals, infos, refuse } = internals;
  const { words, floats } = recorder.recording;
  const registry = createRegistry(infos);
  const laneTotals = createLaneTotals();
  const causeSums = createCauseSums();
  const account = createAccount({ registry, totals, laneTotals, causes: causeSums, refuse });
  const tracks: ThreadTrack[] = [];

  /** Takes in the start at `tail` and the stop right after it, if that is all there is to them. */
  function leaf(start: number, limit: number): boolean {
    const next = placeOf(replay.tail + 1);
    const code = words[placeOf(replay.tail) * 2 + 2]!;
    if (words[next * 2 + 2] !== code + STOP) return false;
    const stop = timeAt(next);
    if (stop > limit || !account.leaf(code >> 4, start, stop)) return false;
    causeSums.point(internals.causes, replay.tail);
    causeSums.keep(code >> 4);
    causeSums.point(internals.causes, replay.tail + 1);
    causeSums.add(code >> 4);
    replay.tail = (replay.tail + 2) | 0;
    return true;
  }

  const replay: LaneReplay = {
    registry,
    account,
    laneTotals,
    causeSums,
    tracks,
    tail: 0,
    nextTime() {
      const at = placeOf(replay.tail);
      return (words[at * 2 + 2]! & 15) === WORK ? -Infinity : timeAt(at);
    },
    runOwn(head, limit) {
      while (replay.tail !== head) {
        const at = placeOf(replay.tail);
        const code = words[at * 2 + 2]!;
        const kind = code & 15;
        if (kind === WORK) {
          totals.sections[(code >> 4) * STRIDE + WORK_FIELDS + words[at * 2 + 3]!]! += floats[at]!;
          replay.tail = (replay.tail + 1) | 0;
          continue;
        }
        const time = timeAt(at);
        if (time > limit) return false;
        if (kind === START && ((replay.tail + 1) | 0) !== head && leaf(time, limit)) continue;
        causeSums.point(internals.causes, replay.tail);
        replay.tail = (replay.tail + 1) | 0;
        account.moveTo(time);
        if (account.apply(kind, code >> 4)) return true;
      }
      return false;
    },
    run: (head) => (tracks.length === 0 ? replay.runOwn(head, Infinity) : replayTogether(replay, totals, head)),
    reset() {
      for (const track of tracks) track.tail = track.head();
      account.reset();
    },
    lanes: () => readLanes(registry.lanes, totals, laneTotals),
    causes: (slot) => causeSums.read(slot),
    lost: (slot) => (laneTotals.dropped & (1 << registry.laneOf[slot]!)) > 0,
    clear() {
      clearTotals(totals, infos.length);
      clearLaneTotals(laneTotals, registry.lanes.length);
      causeSums.clear();
    },
  };

  const { add } = internals;
  internals.add = (info) => {
    registry.laneIndex(info.lane, true);
    const slot = add(info);
    registry.take(slot);
    return slot;
  };
  return replay;
}
