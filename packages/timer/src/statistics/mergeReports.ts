import type { ReportSnapshot } from "../report.ts";

/** One figure over several reports. */
export interface Spread {
  /** The smallest. */
  readonly minMs: number;
  /** The median. */
  readonly medianMs: number;
  /** The largest. */
  readonly maxMs: number;
  /** Whose is the largest. */
  readonly slowest: string;
  /** Reports that have it. */
  readonly n: number;
  /** Reports that don't. */
  readonly missing: number;
}

/** Several timers' reports of the same step, by name. */
export interface MergedReport {
  /** Of the whole steps; null without a report. */
  readonly step: Spread | null;
  /** Of their time in no section; null without a report. */
  readonly residual: Spread | null;
  /** Every section that any report has; null where none was reached. */
  readonly sections: Readonly<Record<string, Spread | null>>;
}

/** Merges reports of ranks or processes by section name. Their sets of sections may differ: what a report lacks is missing, never 0. */
export function mergeReports(reports: Readonly<Record<string, ReportSnapshot>>): MergedReport {
  const all = Object.entries(reports);
  const spread = (of: (report: ReportSnapshot) => number | null | undefined): Spread | null => {
    const values = all.flatMap(([name, report]) => {
      const ms = of(report);
      return ms === null || ms === undefined ? [] : [{ name, ms }];
    });
    const sorted = values.toSorted((a, b) => a.ms - b.ms);
    const [first] = sorted;
    const last = sorted.at(-1);
    if (!first || !last) return null;
    const middle = (sorted.length - 1) / 2;
    const medianMs = (sorted[Math.floor(middle)]!.ms + sorted[Math.ceil(middle)]!.ms) / 2;
    return {
      minMs: first.ms,
      medianMs,
      maxMs: last.ms,
      slowest: last.name,
      n: sorted.length,
      missing: all.length - sorted.length,
    };
  };
  const names = new Set(all.flatMap(([, report]) => Object.keys(report.sections)));
  return {
    step: spread(({ ms }) => ms),
    residual: spread(({ residualMs }) => residualMs),
    sections: Object.fromEntries([...names].map((name) => [name, spread(({ sections }) => sections[name]?.ms)])),
  };
}
