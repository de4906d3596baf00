import { createTimeAt } from "../clock.ts";
import { internalsOf, type TimerInternals } from "../internals.ts";
import { createRecording } from "../recording.ts";
import { STEP_SLOT } from "../stepTotals.ts";
import type { Timer } from "../timer.ts";
import { replayTogether } from "./replayTogether.ts";
import type { SharedTimer } from "./shareTimer.ts";
import type { ThreadTrack } from "./threadTrack.ts";

const tracksOf = new WeakMap<Timer, ThreadTrack[]>();

/**
 * Adds the lanes of another thread's timer to this one's steps. Its boundaries are read where they lie when a step closes, so nothing is sent and nothing comes late.
 * A section name that is taken becomes `name@lane`. A thread with the lanes of an earlier one goes on in its place: the earlier one must be gone.
 *
 * @throws RangeError when one of its lanes is here already.
 */
export function attachTimer(timer: Timer, shared: SharedTimer): void {
  const internals = internalsOf(timer);
  const { registry, account, totals } = internals;
  const { lanes } = registry;
  const tracks = tracksOf.get(timer) ?? [];
  const used = [...new Set(shared.sections.map(({ lane }) => lane))];
  const former = tracks.findIndex((track) => track.lanes.map((lane) => lanes[lane]).join() === used.join());
  const taken = former < 0 ? used.find((lane) => lanes.includes(lane)) : undefined;
  if (taken !== undefined)
    throw new RangeError(
      `attachTimer: lane "${taken}" is here already; give the other thread's timer and its sections a lane of their own`,
    );

  const recording = createRecording(shared.causes, shared.buffer);
  const counters = new Int32Array(shared.buffer);
  const head = (): number => Atomics.load(counters, 0);
  const timeAt = createTimeAt(recording.words, internals.origin);
  const slots = addSections(internals, shared);
  internals.sources.push({
    recording,
    timeAt,
    sections: slots.map((slot, own) => (own === STEP_SLOT ? shared.sections[own]! : registry.infos[slot]!)),
    local: false,
    head,
  });
  const track: ThreadTrack = {
    recording,
    timeAt,
    slots,
    lanes: used.map((lane) => registry.laneIndex(lane, false)),
    head,
    tail: head(),
    end: head(),
  };
  if (former < 0) tracks.push(track);
  else {
    for (const lane of track.lanes) {
      account.forget(lane);
      totals.droppedLanes |= 1 << lane;
    }
    tracks[former] = track;
  }
  if (tracksOf.has(timer)) return;
  tracksOf.set(timer, tracks);
  replayTogether(internals, tracks);
}

/** Slots here by slots there. */
function addSections({ registry }: TimerInternals, { sections }: SharedTimer): number[] {
  const { infos } = registry;
  return sections.map((section, slot) => {
    if (slot === STEP_SLOT) return STEP_SLOT;
    const named = { ...section, name: `${section.name}@${section.lane}` };
    const same = infos.findIndex(
      ({ name, lane }) => lane === section.lane && (name === section.name || name === named.name),
    );
    if (same > STEP_SLOT) return same;
    return registry.add(infos.some(({ name }) => name === section.name) ? named : section, false);
  });
}
