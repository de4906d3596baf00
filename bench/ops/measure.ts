/** Times of one thing, ms. */
export interface Times {
  readonly least: number;
  readonly median: number;
  /** 10th percentile. */
  readonly low: number;
  /** 90th percentile. */
  readonly high: number;
  readonly n: number;
}

export function summarize(times: readonly number[]): Times {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.floor(share * sorted.length)]!;
  return { least: at(0), median: at(0.5), low: at(0.1), high: at(0.9), n: times.length };
}

export const formatTimes = ({ median, low, high, n }: Times): string =>
  `${digits(median)} | ${digits(low)} to ${digits(high)} | ${n}`;

const digits = (ms: number): string => (ms < 10 ? ms.toFixed(2) : ms.toFixed(0));
