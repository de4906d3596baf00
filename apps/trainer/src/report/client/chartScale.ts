import type { ChartOptions } from "./chartOptions.ts";

/** Both ends of a chart's scale, for values from `low` to `high`. */
export function rangeOf(
  { lines, fromZero, range, stacked }: ChartOptions,
  low: number,
  high: number,
): [number, number] {
  if (range) return [range[0], range[1]];
  if (stacked) return [0, high * 1.04 || 1];
  const [least, most] = extentOf(
    lines.flatMap(({ values }) => values.filter((value) => value !== null)),
    low,
    high,
  );
  const room = (most - least) * 0.12 || Math.abs(most) * 0.1 || 1;
  return fromZero === undefined
    ? [Math.max(least - room, Math.min(0, least)), most + room]
    : [0, Math.max(fromZero, most + room)];
}

/** From where to where values lie, but for a few so far from the others that they would press them flat, such as first losses. */
export function extentOf(values: readonly number[], low: number, high: number): [number, number] {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.floor(share * (sorted.length - 1))] ?? 0;
  const [least, most] = sorted.length > 20 ? [at(0.01), at(0.94)] : [low, high];
  const far = 2 * (most - least);
  return [least - low > far ? least : low, high - most > far ? most : high];
}

/** Running sums of layers, from the bottom up. */
export function sums(layers: readonly (readonly (number | null)[])[]): number[][] {
  const below: number[] = [];
  return layers.map((layer) => layer.map((value, i) => (below[i] = (below[i] ?? 0) + (value ?? 0))));
}
