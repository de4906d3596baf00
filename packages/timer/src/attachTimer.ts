import { internalsOf } from "./internals.ts";
import { createRecording } from "./recording.ts";
import type { Track } from "./replay.ts";
import { STEP_SLOT } from "./stepTotals.ts";
import type { SectionInfo, Timer } from "./timer.ts";

/** A timer's recording, to be handed to another thread. */
export interface SharedTimer {
  readonly buffer: ArrayBufferLike;
  /** Whether its boundaries hold causes. */
  readonly causes: boolean;
  readonly sections: readonly SectionInfo[];
}

interface OtherTrack extends Track {
  readonly lanes: readonly number[];
  head(): number;
  /** Boundaries to replay in the drain at hand. */
  end: number;
}

const tracksOf = new WeakMap<Timer, OtherTrack[]>();

/** What another thread needs to show this timer's lanes: a message to post. The timer must have been made with `shared`, and takes no new sections afterwards. */
export function shareTimer(timer: Timer): SharedTimer {
  const internals = internalsOf(timer);
  const { recorder, infos, hasCauses } = internals;
  const { buffer } = recorder.recording;
  if (buffer instanceof ArrayBuffer)
    throw new TypeError("shareTimer: the timer's recording is not shared; make it with createTimer({ shared: true })");
  internals.freeze();
  return { buffer, causes: hasCauses, sections: infos };
}

/**
 * Adds the lanes of another thread's timer to this one's steps. Its boundaries are read where they lie when a step closes, so nothing is sent and nothing comes late.
 * A section name that is taken becomes `name@lane`. A thread with the lanes of an earlier one goes on in its place: the earlier one must be gone.
 *
 * @throws RangeError when one of its lanes is here already.
 */
export function attachTimer(timer: Timer, { buffer, causes, sections }: SharedTimer): void {
  const internals = internalsOf(timer);
  const { lanes, infos, sources } = internals;
  const known = tracksOf.get(timer);
  const tracks = known ?? [];
  const used = [...new Set(sections.map(({ lane }) => lane))];
  const former = tracks.findIndex((track) => track.lanes.map((lane) => lanes[lane]).join() === used.join());
  const taken = former < 0 ? used.find((lane) => lanes.includes(lane)) : undefined;
  if (taken !== undefined)
    throw new RangeError(
      `attachTimer: lane "${taken}" is here already; give the other thread's timer and its sections a lane of their own`,
    );
  const recording = createRecording(causes, buffer);
  const counters = new Int32Array(buffer);
  const head = (): number => Atomics.load(counters, 0);
  const slots = sections.map((section, slot) => {
    if (slot === STEP_SLOT) return STEP_SLOT;
    const named = { ...section, name: `${section.name}@${section.lane}` };
    const same = infos.findIndex(
      ({ name, lane }) => lane === section.lane && (name === section.name || name === named.name),
    );
    if (same > STEP_SLOT) return same;
    return internals.addSection(infos.some(({ name }) => name === section.name) ? named : section, false);
  });
  sources.push({
    recording,
    sections: slots.map((slot, own) => (own === STEP_SLOT ? sections[own]! : infos[slot]!)),
    local: false,
    head,
  });
  const track: OtherTrack = {
    recording,
    slots,
    lanes: used.map((lane) => internals.laneIndex(lane, false)),
    head,
    tail: head(),
    end: head(),
  };
  if (former < 0) tracks.push(track);
  else {
    internals.replay.lose(track.lanes, 0);
    tracks[former] = track;
  }
  if (!known) replayTogether(timer, tracks);
}

/** Makes the timer replay its own recording and all others in order of time. */
function replayTogether(timer: Timer, others: OtherTrack[]): void {
  tracksOf.set(timer, others);
  const internals = internalsOf(timer);
  const { replay, recorder } = internals;
  const own: Track = internals.own;

  /** Sees how far the other threads have come; a ring that may be overwritten while it is read is given up. */
  function look(): void {
    for (const other of others) {
      other.end = other.head();
      const unread = (other.end - other.tail) | 0;
      if (unread <= other.recording.size / 2) continue;
      replay.lose(other.lanes, unread);
      other.tail = other.end;
    }
  }

  internals.skip = () => {
    for (const other of others) other.tail = other.head();
  };
  internals.drain = () => {
    look();
    let closed = false;
    while (own.tail !== recorder.head) {
      let track = own;
      let end = recorder.head;
      let first = replay.nextTime(own);
      let second = Infinity;
      for (const other of others) {
        if (other.tail === other.end) continue;
        const time = replay.nextTime(other);
        if (time < first) {
          second = first;
          first = time;
          track = other;
          end = other.end;
        } else if (time < second) second = time;
      }
      if (replay.run(track, end, second)) closed = true;
    }
    return closed;
  };
}
