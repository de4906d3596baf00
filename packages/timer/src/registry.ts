import type { SectionInfo } from "./section.ts";
import { MAX_LANES, MAX_SECTIONS, STEP_SLOT } from "./stepTotals.ts";

/** What the time of a section is: of the step, in no section; work; or waiting. */
export const RESTS = 0;
export const WORKS = 1;
export const WAITS = 2;

/** Sections and lanes of a timer. The step has slot 0, the timer's own lane is lane 0. */
export interface Registry {
  readonly infos: SectionInfo[];
  readonly lanes: string[];
  /** By slot. */
  readonly laneOf: Uint8Array;
  readonly kindOf: Uint8Array;
  /** By lane: 1 when it runs in this thread. */
  readonly isLocal: Uint8Array;
  /** Number of a lane, which is added unless it is known. */
  laneIndex(name: string, local: boolean): number;
  /** Slot of a new section. */
  add(info: SectionInfo, local: boolean): number;
}

/** Makes a registry that holds the step. */
export function createRegistry(lane: string): Registry {
  const infos: SectionInfo[] = [];
  const lanes: string[] = [];
  const laneOf = new Uint8Array(MAX_SECTIONS);
  const kindOf = new Uint8Array(MAX_SECTIONS);
  const isLocal = new Uint8Array(MAX_LANES);

  function laneIndex(name: string, local: boolean): number {
    const known = lanes.indexOf(name);
    if (known >= 0) return known;
    refuseBeyond(MAX_LANES, lanes.length, "lane", name, `use one of ${lanes.join(", ")}`);
    isLocal[lanes.length] = local ? 1 : 0;
    return lanes.push(name) - 1;
  }

  function add(info: SectionInfo, local: boolean): number {
    const slot = infos.length;
    refuseBeyond(MAX_SECTIONS - 1, slot - 1, "section", info.name, "make handles once, not in the loop");
    laneOf[slot] = laneIndex(info.lane, local);
    kindOf[slot] = info.role === "wait" ? WAITS : WORKS;
    return infos.push(info) - 1;
  }

  add({ name: "step", lane, role: null, waitsFor: null }, true);
  kindOf[STEP_SLOT] = RESTS;
  return { infos, lanes, laneOf, kindOf, isLocal, laneIndex, add };
}

function refuseBeyond(most: number, count: number, what: string, name: string, remedy: string): void {
  if (count === most)
    throw new RangeError(`timer: ${what} "${name}" is one more than the ${most} that a timer holds; ${remedy}`);
}
