import { createLogLinearHistogram, type LogLinearHistogram } from "./logLinearHistogram.ts";
import type { LateRecord, SectionSummary, StepRecord, SummaryRecord } from "./record.ts";

/** Accumulates steps into percentiles a section, in memory that does not grow with them. */
export interface Summary {
  /** Counts a step, or what came late of one. */
  add(record: StepRecord | LateRecord): void;
  /** The summary so far; null before the first step. */
  record(): SummaryRecord | null;
}

/** An empty summary. */
export function createSummary(): Summary {
  const sections = new Map<string, { times: LogLinearHistogram; missing: number }>();
  let from = Infinity;
  let to = -Infinity;

  const addTo = (name: string, ms: number | null): void => {
    let section = sections.get(name);
    if (section === undefined) sections.set(name, (section = { times: createLogLinearHistogram(), missing: 0 }));
    if (ms === null) section.missing++;
    else section.times.add(ms);
  };

  return {
    add(record) {
      if (record.kind === "late") {
        for (const [name, { ms }] of Object.entries(record.sections)) {
          const section = sections.get(name);
          if (typeof ms !== "number" || section === undefined || section.missing === 0) continue;
          section.missing--;
          section.times.add(ms);
        }
        return;
      }
      from = Math.min(from, record.step);
      to = Math.max(to, record.step);
      addTo("(step)", record.ms);
      for (const name of Object.keys(record.sections)) addTo(name, record.sections[name]!.ms);
      addTo("(residual)", record.residual_ms);
    },
    record() {
      if (to < from) return null;
      const summaries = [...sections].map(([name, { times, missing }]): [string, SectionSummary] => [
        name,
        {
          n: times.count,
          missing,
          sum_ms: times.sum,
          p50: times.percentile(0.5),
          p90: times.percentile(0.9),
          p99: times.percentile(0.99),
          max: times.max,
        },
      ]);
      // A section may be called __proto__.
      return { kind: "summary", from, to, sections: Object.fromEntries(summaries) };
    },
  };
}
