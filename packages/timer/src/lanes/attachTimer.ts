import { createTimeAt } from "../clock.ts";
import { internalsOf, type TimerInternals } from "../internals.ts";
import { createRecording } from "../recording.ts";
import { STEP_SLOT } from "../stepTotals.ts";
import type { Timer } from "../timer.ts";
import { laneReplayOf } from "./laneReplay.ts";
import type { SharedTimer } from "./shareTimer.ts";
import type { ThreadTrack } from "./threadTrack.ts";

/**
 * Adds the lanes of another thread's timer to this one's steps. Its boundaries are read where they lie when a step closes, so nothing is sent and nothing comes late.
 * A section name that is taken becomes `name@lane`. A thread with the lanes of an earlier one goes on in its place: the earlier one must be gone.
 * To be called between steps.
 *
 * @throws RangeError when one of its lanes is here already; TypeError when it was given something else.
 */
export function attachTimer(timer: Timer, shared: SharedTimer): void {
  const internals = internalsOf(timer);
  if (!(shared?.buffer instanceof SharedArrayBuffer))
    throw new TypeError("attachTimer: this is no shared timer; give what shareTimer has made of the other thread's");
  const { buffer, causes: ring, sections } = shared;
  const { registry, account, laneTotals, tracks } = laneReplayOf(timer);
  const { lanes } = registry;
  const used = [...new Set(sections.map(({ lane }) => lane))];
  const former = tracks.findIndex((track) => track.lanes.map((lane) => lanes[lane]).join() === used.join());
  const taken = former < 0 ? used.find((lane) => lanes.includes(lane)) : undefined;
  if (taken !== undefined)
    throw new RangeError(
      `attachTimer: lane "${taken}" is here already; give the other thread's timer and its sections a lane of their own`,
    );

  const recording = createRecording(buffer);
  const counters = new Int32Array(buffer);
  const head = (): number => Atomics.load(counters, 0);
  const timeAt = createTimeAt(recording.words, internals.origin);
  const causes = ring === null ? undefined : new Float64Array(ring);
  const track: ThreadTrack = {
    recording,
    timeAt,
    causes,
    lanes: used.map((lane) => registry.laneIndex(lane, false)),
    slots: addSections(internals, sections),
    head,
    tail: head(),
    end: head(),
  };
  internals.others.push({
    recording,
    timeAt,
    infos: track.slots.map((slot, own) => (own === STEP_SLOT ? sections[own]! : internals.infos[slot]!)),
    local: false,
    causes,
    head,
  });
  if (former < 0) {
    tracks.push(track);
    return;
  }
  tracks[former] = track;
  for (const lane of track.lanes) {
    account.forget(lane);
    laneTotals.dropped |= 1 << lane;
  }
}

/** Slots here by slots there. */
function addSections(internals: TimerInternals, sections: SharedTimer["sections"]): number[] {
  const { infos } = internals;
  return sections.map((section, slot) => {
    if (slot === STEP_SLOT) return STEP_SLOT;
    const named = { ...section, name: `${section.name}@${section.lane}` };
    const same = infos.findIndex(
      ({ name, lane }) => lane === section.lane && (name === section.name || name === named.name),
    );
    if (same > STEP_SLOT) return same;
    return internals.add(infos.some(({ name }) => name === section.name) ? named : section);
  });
}
