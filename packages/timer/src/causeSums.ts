import { CAUSE_COUNT, CAUSES } from "./recording.ts";

/** Sums, by section, what the totals of a probe rise by. */
export interface CauseSums {
  /** The boundary at hand, by its place in the recording; 0 when it tells no causes. */
  point(at: number): void;
  /** A section opens at this boundary. */
  keep(slot: number): void;
  /** It closes at this boundary. */
  add(slot: number): void;
}

/** Makes them over a recording's doubles; the sums lie in an array, `CAUSE_COUNT` a section. */
export function createCauseSums(sums: Float64Array, floats: Float64Array): CauseSums {
  const since = new Float64Array(sums.length);
  let causes = 0;
  return {
    point(at) {
      causes = at === 0 ? 0 : at + CAUSES;
    },
    keep(slot) {
      if (causes === 0) return;
      for (let column = 0; column < CAUSE_COUNT; column += 1)
        since[slot * CAUSE_COUNT + column] = floats[causes + column]!;
    },
    add(slot) {
      if (causes === 0) return;
      for (let column = 0; column < CAUSE_COUNT; column += 1) {
        const at = slot * CAUSE_COUNT + column;
        sums[at]! += floats[causes + column]! - since[at]!;
      }
    },
  };
}
