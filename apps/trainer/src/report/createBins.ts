import type { Series } from "./runData.ts";

/** Values of consecutive steps by name. */
interface Bin {
  from: number;
  to: number;
  steps: number;
  readonly sums: Map<string, { sum: number; count: number }>;
}

/** Means over as many consecutive steps as keep the bins few. */
export interface Bins {
  /** Begins the next step, whose values `put` adds. */
  begin(step: number): void;
  /** A value of the step that was begun; null says that there is none. */
  put(name: string, value: number | null | undefined): void;
  /** First and last step of each bin. */
  bounds(): { from: number[]; to: number[] };
  /** Means by bin of all values whose names begin with the prefix, by the rest of the name. */
  series(prefix: string): Record<string, Series>;
}

/** Bins that are never more than twice `least`: when they are, two become one. */
export function createBins(least: number): Bins {
  let bins: Bin[] = [];
  let width = 1;

  function merge(): void {
    width *= 2;
    bins = bins.flatMap((bin, i) => {
      if (i % 2 === 1) return [];
      const next = bins[i + 1];
      if (!next) return [bin];
      bin.to = next.to;
      bin.steps += next.steps;
      for (const [name, { sum, count }] of next.sums) add(bin, name, sum, count);
      return [bin];
    });
  }

  return {
    begin(step) {
      const last = bins.at(-1);
      if (last && last.steps < width) {
        last.steps++;
        last.to = step;
        return;
      }
      if (bins.length === 2 * least) merge();
      bins.push({ from: step, to: step, steps: 1, sums: new Map() });
    },
    put(name, value) {
      const bin = bins.at(-1);
      if (bin && typeof value === "number" && Number.isFinite(value)) add(bin, name, value, 1);
    },
    bounds: () => ({ from: bins.map(({ from }) => from), to: bins.map(({ to }) => to) }),
    series(prefix) {
      const names = new Set(bins.flatMap(({ sums }) => [...sums.keys()].filter((name) => name.startsWith(prefix))));
      return Object.fromEntries(
        [...names].map((name) => [name.slice(prefix.length), bins.map(({ sums }) => mean(sums.get(name)))]),
      );
    },
  };
}

function add({ sums }: Bin, name: string, sum: number, count: number): void {
  const known = sums.get(name);
  if (known === undefined) sums.set(name, { sum, count });
  else {
    known.sum += sum;
    known.count += count;
  }
}

/** In as many digits as anybody can see. */
const mean = (value: { sum: number; count: number } | undefined): number | null =>
  value === undefined ? null : Number((value.sum / value.count).toPrecision(5));
