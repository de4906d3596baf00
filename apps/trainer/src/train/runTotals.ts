import type { HeaderRecord, StepRecord } from "@dflash/log-formatter";
import { fifths } from "./fifths.ts";

/** What a run amounts to, beside the summary of its sections. */
export interface RunResult {
  /** Wall time of all steps. */
  total_ms: number;
  tokens_per_s: number | null;
  /** Means over each fifth of the steps. */
  loss_by_fifth: (number | null)[];
  accuracy_by_fifth: (number | null)[];
  /** The section of the steps that did most itself, waiting aside, and its share of the wall time. */
  bottleneck: { section: string; share: number } | null;
}

/** Accumulates the records of a run. */
export interface RunTotals {
  /** Tells what the sections are. */
  begin(header: HeaderRecord): void;
  add(record: StepRecord): void;
  result(): RunResult;
  /** The result for a reader. */
  lines(): string[];
}

type Named = HeaderRecord["sections"][number];

const row = (values: (number | null)[]): string => values.map((value) => value?.toFixed(3) ?? "-").join("  ");

/** Empty totals. */
export function runTotals(): RunTotals {
  const losses: (number | null)[] = [];
  const accuracies: (number | null)[] = [];
  const selfMs = new Map<string, number>();
  /** Sections that are no part of the steps' time: they wait, or run beside the steps in other threads. */
  const beside = new Set<string>();
  let totalMs = 0;
  let tokens = 0;

  const result = (): RunResult => {
    const [section, ms] = [...selfMs].toSorted((a, b) => b[1] - a[1])[0] ?? [];
    return {
      total_ms: totalMs,
      tokens_per_s: totalMs > 0 ? (1000 * tokens) / totalMs : null,
      loss_by_fifth: fifths(losses),
      accuracy_by_fifth: fifths(accuracies),
      bottleneck: section === undefined || ms === undefined ? null : { section, share: ms / totalMs },
    };
  };

  return {
    begin({ sections }) {
      const own = sections.find(({ name }) => name === "queue/wait")?.lane;
      const root = ({ lane, parent }: Named): string => {
        const outer = sections.find(({ name }) => name === parent);
        return outer ? root(outer) : lane;
      };
      for (const section of sections) if (section.role === "wait" || root(section) !== own) beside.add(section.name);
    },
    add({ ms, residual_ms: residualMs, metrics, sections }) {
      totalMs += ms;
      tokens += metrics["tokens"] ?? 0;
      losses.push(metrics["loss"] ?? null);
      accuracies.push(metrics["accuracy"] ?? null);
      for (const [name, { self_ms: self }] of Object.entries(sections))
        if (!beside.has(name)) selfMs.set(name, (selfMs.get(name) ?? 0) + (self ?? 0));
      if (Object.keys(sections).length > 0) selfMs.set("residual", (selfMs.get("residual") ?? 0) + residualMs);
    },
    result,
    lines() {
      const { bottleneck, loss_by_fifth: loss, accuracy_by_fifth: accuracy, tokens_per_s: rate } = result();
      return [
        `loss by fifth of the run      ${row(loss)}`,
        `accuracy by fifth of the run  ${row(accuracy)}`,
        `${(totalMs / 1000).toFixed(1)} s in ${losses.length} steps, ${rate?.toFixed(0) ?? "-"} tokens/s`,
        ...(bottleneck === null
          ? []
          : [`bottleneck: ${bottleneck.section}, ${(100 * bottleneck.share).toFixed(1)} % of the wall time`]),
      ];
    },
  };
}
