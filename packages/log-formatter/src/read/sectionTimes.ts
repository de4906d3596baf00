import { createLogLinearHistogram, type LogLinearHistogram } from "../logLinearHistogram.ts";
import type { LogRecord } from "../record.ts";

/** How long a section took over the steps of a run, milliseconds. */
export interface SectionTimesStats {
  /** Steps that measured it. */
  n: number;
  /** 25th percentile, ms. */
  p25: number;
  /** Median, ms. */
  median: number;
  /** 75th percentile, ms. */
  p75: number;
}

/** By section; `(step)` and `(residual)` are the step and its rest. */
export type RunTimes = ReadonlyMap<string, SectionTimesStats>;

/** Percentiles to 0.2 %: two runs are told apart by a few percent. */
const subBucketBits = 9;

/** The times of a run, from its records; steps tagged `warmup` do not count. */
export async function sectionTimes(records: AsyncIterable<LogRecord> | Iterable<LogRecord>): Promise<RunTimes> {
  const histograms = new Map<string, LogLinearHistogram>();
  const add = (name: string, ms: number | null): void => {
    if (ms === null) return;
    let histogram = histograms.get(name);
    if (histogram === undefined) histograms.set(name, (histogram = createLogLinearHistogram(subBucketBits)));
    histogram.add(ms);
  };
  for await (const record of records) {
    if (record.kind !== "step" || record.tags.includes("warmup")) continue;
    add("(step)", record.ms);
    for (const name in record.sections) add(name, record.sections[name]!.ms);
    add("(residual)", record.residual_ms);
  }
  return new Map(
    [...histograms].map(([name, times]) => [
      name,
      { n: times.count, p25: times.percentile(0.25)!, median: times.percentile(0.5)!, p75: times.percentile(0.75)! },
    ]),
  );
}
