import type { Series } from "../runData.ts";

/** Means over a window around each place, gaps left out. */
export function smooth(values: Series, window: number): (number | null)[] {
  if (window <= 1) return [...values];
  const sums = [0];
  const counts = [0];
  for (const value of values) {
    sums.push(sums.at(-1)! + (value ?? 0));
    counts.push(counts.at(-1)! + (value === null ? 0 : 1));
  }
  const half = Math.floor(window / 2);
  return values.map((_, i) => {
    const [low, high] = [Math.max(0, i - half), Math.min(values.length, i + half + 1)];
    const count = counts[high]! - counts[low]!;
    return count === 0 ? null : (sums[high]! - sums[low]!) / count;
  });
}
