import type { Recorder } from "./recorder.ts";
import type { Recording } from "./recording.ts";
import type { Replay, Track } from "./replay.ts";
import { readSpans } from "./spans.ts";
import type { SectionInfo, Span } from "./timer.ts";

/** The recordings behind one timer: its own, and those of other threads. */
export interface Tracks {
  /** Adds another thread's recording; `slots` and `sections` by its own slots. */
  attach(recording: Recording, slots: readonly number[], sections: readonly SectionInfo[], lanes: readonly number[]): void;
  /** Replays all boundaries up to the last of the own recording in order of time; true when that closed a step. */
  drain(): boolean;
  /** Leaves out what other threads recorded since the last drain. */
  skip(): void;
  spans(fromNs: number, toNs: number): Span[];
}

interface Other extends Track {
  readonly counters: Int32Array;
  readonly sections: readonly SectionInfo[];
  readonly lanes: readonly number[];
  /** Boundaries to replay in this drain. */
  end: number;
}

/** Joins a recorder and a replay. */
export function createTracks(recorder: Recorder, replay: Replay, sections: readonly SectionInfo[]): Tracks {
  const own: Track = { recording: recorder.recording, slots: null, tail: 0 };
  const others: Other[] = [];

  /** Sees how far the other threads have come; a ring that may be overwritten while it is read is given up. */
  function look(): void {
    for (const other of others) {
      other.end = Atomics.load(other.counters, 0);
      const unread = (other.end - other.tail) | 0;
      if (unread <= other.recording.size / 2) continue;
      replay.lose(other.lanes, unread);
      other.tail = other.end;
    }
  }

  return {
    attach(recording, slots, itsSections, lanes) {
      const counters = new Int32Array(recording.buffer);
      const end = Atomics.load(counters, 0);
      others.push({ recording, slots, sections: itsSections, lanes, counters, tail: end, end });
    },
    drain() {
      const { head } = recorder;
      if (others.length === 0) return replay.run(own, head, Infinity);
      look();
      let closed = false;
      while (own.tail !== head) {
        let track: Track = own;
        let end = head;
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
    },
    skip() {
      for (const other of others) other.tail = Atomics.load(other.counters, 0);
    },
    spans(fromNs, toNs) {
      const read = ({ recording }: Track, names: readonly SectionInfo[], head: number): Span[] =>
        readSpans({ recording, sections: names, local: recording === own.recording, head, time: (at) => replay.timeAt(recording, at) }, fromNs, toNs);
      return [...read(own, sections, recorder.head), ...others.flatMap((other) => read(other, other.sections, Atomics.load(other.counters, 0)))];
    },
  };
}
