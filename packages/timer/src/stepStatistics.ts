import { addTimes, createHistogram, describe, type Histogram, recordTime } from "./histogram.ts";
import { COUNT, SELF, STRIDE, TOTAL } from "./replay.ts";
import type { Summary } from "./timer.ts";

/** Distributions of the time per step of every section. */
export interface StepStatistics {
  addSection(name: string): void;
  /** Counts a step from its totals. */
  add(step: number, sections: Float64Array): void;
  /** Of all steps. */
  summary(): Summary;
  /** Of the steps since the last call. */
  window(): Summary;
}

interface Range {
  from: number;
  to: number;
  steps: number;
}

/** Two histograms a section: steps go into the window's, windows into the run's. */
export function createStepStatistics(): StepStatistics {
  const names: string[] = [];
  /** By slot; the step in slot 0, and the residual before it. */
  const windows: Histogram[] = [createHistogram(), createHistogram()];
  const runs: Histogram[] = [createHistogram(), createHistogram()];
  const window: Range = { from: 0, to: 0, steps: 0 };
  const run: Range = { from: 0, to: 0, steps: 0 };

  function extend(range: Range, by: Range): void {
    if (by.steps === 0) return;
    if (range.steps === 0) range.from = by.from;
    range.to = by.to;
    range.steps += by.steps;
  }

  function summarize({ from, to, steps }: Range, histograms: readonly Histogram[]): Summary {
    const [residual, step, ...sections] = histograms.map((histogram) => describe(histogram, steps));
    return { from, to, step: step!, residual: residual!, sections: Object.fromEntries(names.map((name, i) => [name, sections[i]!])) };
  }

  return {
    addSection(name) {
      names.push(name);
      windows.push(createHistogram());
      runs.push(createHistogram());
    },
    add(step, sections) {
      if (window.steps === 0) window.from = step;
      window.to = step;
      window.steps += 1;
      recordTime(windows[0]!, sections[SELF]!);
      for (let at = 0, i = 1; i < windows.length; i += 1, at += STRIDE) {
        if (sections[at + COUNT]! > 0 || sections[at + TOTAL]! > 0) recordTime(windows[i]!, sections[at + TOTAL]!);
      }
    },
    summary() {
      const all = { ...run };
      extend(all, window);
      return summarize(
        all,
        windows.map((histogram, i) => addTimes(histogram, addTimes(runs[i]!, createHistogram()))),
      );
    },
    window() {
      const summary = summarize(window, windows);
      extend(run, window);
      window.steps = 0;
      windows.forEach((histogram, i) => {
        addTimes(histogram, runs[i]!);
        histogram.bins.fill(0);
        histogram.moments.fill(0);
      });
      return summary;
    },
  };
}
