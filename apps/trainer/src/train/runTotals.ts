import type { HeaderRecord, LogRecord, StepRecord } from "@dflash/log-formatter";
import { measuredAcceptance } from "../measuredAcceptance.ts";
import { sectionsBeside } from "../sectionsBeside.ts";
import { fifths } from "./fifths.ts";

/** What a run amounts to, beside the summary of its sections. */
export interface RunResult {
  /** Steps that weren't finite and left the drafter as it was. */
  skipped: number;
  /** Wall time of all steps, in it, with telemetry, that of measuring acceptance lengths, which the tokens per second leave out. */
  total_ms: number;
  tokens_per_s: number | null;
  /** Means over each fifth of the steps. */
  loss_by_fifth: (number | null)[];
  accuracy_by_fifth: (number | null)[];
  /** The section of the steps that did most itself, waiting aside, and its share of the wall time. */
  bottleneck: { section: string; share: number } | null;
  /** Real acceptance lengths on held-out prompts, in the order of their steps. */
  tau: { step: number; acceptance_length: number | null }[];
}

/** Accumulates the records of a run. */
export interface RunTotals {
  add(record: LogRecord): void;
  result(): RunResult;
  /** The result for a reader. */
  lines(): string[];
}

const row = (values: (number | null)[]): string => values.map((value) => value?.toFixed(3) ?? "-").join("  ");

const tauText = ({ step, acceptance_length: length }: RunResult["tau"][number]): string =>
  `${length?.toFixed(3) ?? "-"} at step ${step}`;

/** Empty totals. */
export function runTotals(): RunTotals {
  const losses: (number | null)[] = [];
  const accuracies: (number | null)[] = [];
  const selfMs = new Map<string, number>();
  /** Sections that are no part of training's own time: they wait, measure the drafter, or run beside the steps in other threads. */
  const beside = new Set<string>();
  const tau: RunResult["tau"] = [];
  let totalMs = 0;
  let evalMs = 0;
  let tokens = 0;
  let skipped = 0;

  const result = (): RunResult => {
    const [section, ms] = [...selfMs].toSorted((a, b) => b[1] - a[1])[0] ?? [];
    return {
      skipped,
      total_ms: totalMs,
      tokens_per_s: totalMs > evalMs ? (1000 * tokens) / (totalMs - evalMs) : null,
      loss_by_fifth: fifths(losses),
      accuracy_by_fifth: fifths(accuracies),
      bottleneck: section === undefined || ms === undefined ? null : { section, share: ms / totalMs },
      tau,
    };
  };

  const begin = ({ sections }: HeaderRecord): void => {
    for (const name of sectionsBeside(sections)) beside.add(name);
    for (const { name, role } of sections) if (role === "wait" || role === "eval") beside.add(name);
  };

  const addStep = ({ ms, residual_ms: residualMs, metrics, sections }: StepRecord): void => {
    totalMs += ms;
    evalMs += sections["eval"]?.ms ?? 0;
    tokens += metrics["tokens"] ?? 0;
    losses.push(metrics["loss"] ?? null);
    accuracies.push(metrics["accuracy"] ?? null);
    for (const [name, { self_ms: self }] of Object.entries(sections))
      if (!beside.has(name)) selfMs.set(name, (selfMs.get(name) ?? 0) + (self ?? 0));
    if (Object.keys(sections).length > 0) selfMs.set("residual", (selfMs.get("residual") ?? 0) + residualMs);
  };

  return {
    add(record) {
      if (record.kind === "header") begin(record);
      else if (record.kind === "step") addStep(record);
      else if (record.kind !== "event") return;
      else if (record.name === "skip") skipped++;
      else if (record.name === "tau")
        tau.push({ step: record.step, acceptance_length: measuredAcceptance(record.data) });
    },
    result,
    lines() {
      const { bottleneck, loss_by_fifth: loss, accuracy_by_fifth: accuracy, tokens_per_s: rate } = result();
      return [
        `loss by fifth of the run      ${row(loss)}`,
        `accuracy by fifth of the run  ${row(accuracy)}`,
        ...(tau.length === 0 ? [] : [`acceptance length             ${tau.map(tauText).join("  ")}`]),
        `${(totalMs / 1000).toFixed(1)} s in ${losses.length} steps, ${rate?.toFixed(0) ?? "-"} tokens/s`,
        ...(bottleneck === null
          ? []
          : [`bottleneck: ${bottleneck.section}, ${(100 * bottleneck.share).toFixed(1)} % of the wall time`]),
      ];
    },
  };
}
