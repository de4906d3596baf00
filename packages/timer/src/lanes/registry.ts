import type { SectionInfo } from "../section.ts";
import { MAX_SECTIONS, STEP_SLOT } from "../stepTotals.ts";

export const MAX_LANES = 12;
/** The timer's own lane. */
export const OWN = 0;

/** What the time of a section is: of the step, in no section; work; or waiting. */
export const RESTS = 0;
export const WORKS = 1;
export const WAITS = 2;

/** Which section runs in which lane, and what it does there. */
export interface Registry {
  readonly infos: readonly SectionInfo[];
  readonly lanes: readonly string[];
  /** By slot. */
  readonly laneOf: Uint8Array;
  readonly kindOf: Uint8Array;
  /** By lane: 1 when it runs in this thread. */
  readonly isLocal: Uint8Array;
  /** Number of a lane, which is added unless it is known. */
  laneIndex(name: string, local: boolean): number;
  /** Takes in a section that was added to `infos`. */
  take(slot: number): void;
}

/** Makes a registry of a timer's sections. */
export function createRegistry(infos: readonly SectionInfo[]): Registry {
  const lanes: string[] = [];
  const laneOf = new Uint8Array(MAX_SECTIONS);
  const kindOf = new Uint8Array(MAX_SECTIONS);
  const isLocal = new Uint8Array(MAX_LANES);

  function laneIndex(name: string, local: boolean): number {
    const known = lanes.indexOf(name);
    if (known >= 0) return known;
    if (lanes.length === MAX_LANES)
      throw new RangeError(
        `timer: lane "${name}" is one more than the ${MAX_LANES} that a timer holds; use one of ${lanes.join(", ")}`,
      );
    isLocal[lanes.length] = local ? 1 : 0;
    return lanes.push(name) - 1;
  }

  function take(slot: number): void {
    const { lane, role } = infos[slot]!;
    laneOf[slot] = laneIndex(lane, true);
    kindOf[slot] = slot === STEP_SLOT ? RESTS : role === "wait" ? WAITS : WORKS;
  }

  for (const slot of infos.keys()) take(slot);
  return { infos, lanes, laneOf, kindOf, isLocal, laneIndex, take };
}
