import { MAX_SECTIONS } from "../stepTotals.ts";
import type { Causes } from "./causeProbe.ts";
import { causesAt, COLUMNS } from "./causeRing.ts";

/** What an engine's totals rise by while a section is open. */
export interface CauseSums {
  /** The boundary at hand; without a ring it tells no causes. */
  point(ring: Float64Array | undefined, boundary: number): void;
  /** A section opens at this boundary. */
  keep(slot: number): void;
  /** It closes at this boundary. */
  add(slot: number): void;
  /** Sums of the step that is closed; null when nothing told them. */
  read(slot: number): Causes | null;
  /** Makes room for the next step. */
  clear(): void;
}

/** Makes empty sums. */
export function createCauseSums(): CauseSums {
  const since = new Float64Array(MAX_SECTIONS * COLUMNS);
  const sums = new Float64Array(MAX_SECTIONS * COLUMNS);
  /** 1 when a section has sums. */
  const told = new Uint8Array(MAX_SECTIONS);
  let causes: Float64Array | undefined;
  let at = 0;
  let used = false;
  return {
    point(ring, boundary) {
      causes = ring;
      at = causesAt(boundary);
    },
    keep(slot) {
      if (causes === undefined) return;
      for (let column = 0; column < COLUMNS; column += 1) since[slot * COLUMNS + column] = causes[at + column]!;
    },
    add(slot) {
      if (causes === undefined) return;
      for (let column = 0; column < COLUMNS; column += 1)
        sums[slot * COLUMNS + column]! += causes[at + column]! - since[slot * COLUMNS + column]!;
      told[slot] = 1;
      used = true;
    },
    read(slot) {
      if (told[slot] === 0) return null;
      const column = (offset: number): number | null => {
        const value = sums[slot * COLUMNS + offset]!;
        return Number.isNaN(value) ? null : value;
      };
      return { kernels: column(0), newBytes: column(1), tensors: column(2), newShapes: column(3), syncMs: column(4) };
    },
    clear() {
      if (!used) return;
      sums.fill(0);
      told.fill(0);
    },
  };
}
