import { CAUSE_COUNT } from "./recording.ts";

/** Sums, by section, what the totals of a probe rise by. */
export interface CauseSums {
  /** Where the causes of the boundary at hand stand; 0 when it has none. */
  point(floats: Float64Array, at: number): void;
  /** A section opens at this boundary. */
  keep(slot: number): void;
  /** It closes at this boundary. */
  add(slot: number): void;
  clear(): void;
}

/** Makes them; the sums lie in an array, `CAUSE_COUNT` a section. */
export function createCauseSums(sums: Float64Array): CauseSums {
  const since = new Float64Array(sums.length);
  let causes: Float64Array = since;
  let causesAt = 0;
  let used = false;
  return {
    point(floats, at) {
      if (at === 0) {
        causesAt = 0;
        return;
      }
      causes = floats;
      causesAt = at;
      used = true;
    },
    keep(slot) {
      if (causesAt === 0) return;
      for (let column = 0; column < CAUSE_COUNT; column += 1)
        since[slot * CAUSE_COUNT + column] = causes[causesAt + column]!;
    },
    add(slot) {
      if (causesAt === 0) return;
      for (let column = 0; column < CAUSE_COUNT; column += 1) {
        const at = slot * CAUSE_COUNT + column;
        sums[at]! += causes[causesAt + column]! - since[at]!;
      }
    },
    clear() {
      if (used) sums.fill(0);
    },
  };
}
