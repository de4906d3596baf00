import type { HeaderRecord, SectionRecord, StepRecord } from "./record.ts";

/** Where the sections of a step lie on a time line; index by index, the parents before their children. Valid until the next step. */
export interface Layout {
  /** Names of the tracks, which count from 1; the last takes sections that the header does not list. */
  readonly lanes: readonly string[];
  readonly names: readonly string[];
  readonly tracks: readonly number[];
  /** What the step says of each section; undefined where it says nothing. */
  readonly sections: readonly (SectionRecord | undefined)[];
  /** Nanoseconds, like `durations`. */
  readonly starts: readonly number[];
  readonly durations: readonly number[];
  /** End of all steps so far. */
  readonly end: number;
  /** Lays out the next step; on one track its sections nest or follow one another, and never overlap otherwise. */
  place(record: StepRecord): void;
}

/** Sections that the header does not list and that still get a place. */
const unlisted = 1024;

/**
 * Gives each section of a step a start. A record says how long a section took and not when: sections are laid behind one
 * another in their order, children from their parent's start.
 */
export function createLayout(sections: HeaderRecord["sections"]): Layout {
  // One of each name, so that its parents form a tree.
  const listed = [...new Map(sections.map((section) => [section.name, section])).values()];
  const lanes = [...new Set(listed.map(({ lane }) => lane)), "other"];
  const names: string[] = [];
  const tracks: number[] = [];
  const parents: number[] = [];
  const sectionsOf: (SectionRecord | undefined)[] = [];
  const starts: number[] = [];
  const durations: number[] = [];
  /** Where the next child of a section, or the next section of a track, may start. */
  const cursors: number[] = [];
  const ends = [0, ...lanes.map(() => 0)];
  const known = new Set(listed.map(({ name }) => name));
  let end = 0;

  const add = (name: string, lane: string, parent: number): void => {
    const index = names.push(name) - 1;
    tracks.push(lanes.lastIndexOf(lane) + 1);
    parents.push(parent);
    for (const child of listed) if (child.parent === name) add(child.name, child.lane, index);
  };
  for (const { name, lane, parent } of listed) if (parent === null || !known.has(parent)) add(name, lane, -1);

  /** Finds the known sections of a step; true when those are all that it has. */
  const find = ({ sections: given }: StepRecord): boolean => {
    let strangers = 0;
    for (const _ in given) strangers++;
    for (let index = 0; index < names.length; index++) {
      const section = given[names[index]!];
      // Every object has a `constructor`, and that is a function.
      sectionsOf[index] = typeof section === "object" ? section : undefined;
      if (typeof section === "object") strangers--;
    }
    return strangers === 0;
  };

  /** Gives a place to sections that are not known. */
  const meet = ({ sections: given }: StepRecord): void => {
    for (const name in given) {
      if (known.has(name) || known.size === listed.length + unlisted) continue;
      known.add(name);
      add(name, "other", -1);
    }
  };

  /** Own time and that of the children, added up from the last to the first. */
  const measure = (): void => {
    durations.fill(0);
    for (let index = names.length - 1; index >= 0; index--) {
      const section = sectionsOf[index];
      if (section !== undefined) durations[index]! += nanoseconds(section.self_ms ?? section.ms);
      if (parents[index]! >= 0) durations[parents[index]!]! += durations[index]!;
    }
  };

  return {
    lanes,
    names,
    tracks,
    sections: sectionsOf,
    starts,
    durations,
    get end() {
      return end;
    },
    place(record) {
      if (!find(record)) {
        meet(record);
        find(record);
      }
      while (durations.length < names.length) durations.push(starts.push(cursors.push(0)));
      measure();
      const begin = nanoseconds(record.t_ms);
      end = Math.max(end, begin + nanoseconds(record.ms));
      for (let index = 0; index < names.length; index++) {
        const track = tracks[index]!;
        const parent = parents[index]!;
        let start = parent < 0 ? begin : cursors[parent]!;
        // A child on its parent's track lies inside it; anything else waits until its track is free.
        if ((parent < 0 || tracks[parent] !== track) && ends[track]! > start) start = ends[track]!;
        const stop = start + durations[index]!;
        starts[index] = start;
        cursors[index] = start;
        if (parent >= 0) cursors[parent] = stop;
        if (stop > ends[track]!) ends[track] = stop;
        if (stop > end) end = stop;
      }
    },
  };
}

/** 104 days: up to here nanoseconds are exact. */
const largestMs = 9e9;

/** Milliseconds as whole nanoseconds; 0 for what no time line can show. */
export function nanoseconds(ms: number | null): number {
  return ms !== null && ms > 0 && ms < largestMs ? Math.round(ms * 1e6) : 0;
}
