import { addTimes, createHistogram, describe, type Distribution, type Histogram, recordTime } from "./histogram.ts";
import { internalsOf } from "../internals.ts";
import { COUNT, SELF, STEP_SLOT, STRIDE, TOTAL } from "../stepTotals.ts";
import type { Report } from "../report.ts";
import type { Timer } from "../timer.ts";

/** Distributions over a range of steps; steps marked `warmup` are left out. */
export interface Summary {
  /** First and last step, 0 when there is none. */
  readonly from: number;
  /** Last step, 0 when there is none. */
  readonly to: number;
  /** Of the whole steps. */
  readonly step: Distribution;
  /** Of their time in no section. */
  readonly residual: Distribution;
  /** By name. */
  readonly sections: Readonly<Record<string, Distribution>>;
}

/** Distributions of the time per step of every section. */
export interface Statistics {
  /** Of all steps. */
  summary(): Summary;
  /** Of the steps since the last call. */
  window(): Summary;
  /** Stops listening. */
  stop(): void;
}

interface Counted {
  from: number;
  to: number;
  steps: number;
  /** The residual, then by slot. */
  readonly histograms: Histogram[];
}

/** Counts a timer's steps from now on, in fixed memory: two histograms of 4 KiB a section. Nothing is allocated in a step. */
export function createStatistics(timer: Timer): Statistics {
  const { totals, infos } = internalsOf(timer);
  const window: Counted = { from: 0, to: 0, steps: 0, histograms: [] };
  const run: Counted = { from: 0, to: 0, steps: 0, histograms: [] };

  function add(to: Counted, { from, to: last, steps, histograms }: Counted): void {
    if (steps === 0) return;
    if (to.steps === 0) to.from = from;
    to.to = last;
    to.steps += steps;
    histograms.forEach((histogram, i) => addTimes(histogram, (to.histograms[i] ??= createHistogram())));
  }

  function summarize({ from, to, steps, histograms }: Counted): Summary {
    const [residual, step, ...sections] = [...infos, null].map((_, i) =>
      describe(histograms[i] ?? createHistogram(), steps),
    );
    return {
      from,
      to,
      residual: residual!,
      step: step!,
      sections: Object.fromEntries(infos.slice(STEP_SLOT + 1).map(({ name }, i) => [name, sections[i]!])),
    };
  }

  function onReport({ step, tags }: Report): void {
    if (tags.includes("warmup")) return;
    const { sections } = totals;
    while (window.histograms.length <= infos.length) window.histograms.push(createHistogram());
    if (window.steps === 0) window.from = step;
    window.to = step;
    window.steps += 1;
    recordTime(window.histograms[0]!, sections, SELF);
    for (let slot = 0; slot < infos.length; slot += 1) {
      const at = slot * STRIDE;
      if (sections[at + COUNT]! > 0 || sections[at + TOTAL]! > 0)
        recordTime(window.histograms[slot + 1]!, sections, at + TOTAL);
    }
  }

  timer.on("report", onReport);
  return {
    summary() {
      const all: Counted = { from: 0, to: 0, steps: 0, histograms: [] };
      add(all, run);
      add(all, window);
      return summarize(all);
    },
    window() {
      const summary = summarize(window);
      add(run, window);
      window.from = window.to = window.steps = 0;
      for (const { bins, moments } of window.histograms) {
        bins.fill(0);
        moments.fill(0);
      }
      return summary;
    },
    stop() {
      timer.off("report", onReport);
    },
  };
}
