import { createSummary, type HeaderRecord, type LogRecord, type StepRecord } from "@dflash/log-formatter";
import type { SlowStep } from "@dflash/timer/spans";
import { judgeRun } from "../judgeRun.ts";
import { measuredAcceptance } from "../measuredAcceptance.ts";
import { sectionsBeside } from "../sectionsBeside.ts";
import { createBins } from "./createBins.ts";
import type { LaneData, Mark, RunData, SectionData } from "./runData.ts";

/** Bins of a long run; there are up to twice as many. */
const leastBins = 500;
/** Last steps that the verdict and its predictions are made from. */
const judgedSteps = 512;
/** Slow steps that are shown. */
const mostSlow = 12;
/** Marks that are shown: later ones take the places of earlier ones. */
const mostMarks = 500;

/** Takes the records of a run in. */
export interface RunCollector {
  add(record: LogRecord): void;
  /** What the records so far come to; null before the first header. */
  data(): RunData | null;
}

/** Collects a run for the report, in bounded memory. */
export function collectRun(): RunCollector {
  const bins = createBins(leastBins);
  const summary = createSummary();
  const selfMs = new Map<string, number>();
  const verdicts = new Map<string, number>();
  const totals = { steps: 0, ms: 0, residualMs: 0, overheadMs: 0, tokens: 0 };
  let header: HeaderRecord | undefined;
  let start = "";
  let recent: StepRecord[] = [];
  let slow: SlowStep[] = [];
  let marks: Mark[] = [];

  function addStep(step: StepRecord): void {
    summary.add(step);
    recent.push(step);
    if (recent.length > 2 * judgedSteps) recent = recent.slice(-judgedSteps);
    totals.steps++;
    totals.ms += step.ms;
    totals.residualMs += step.residual_ms;
    totals.overheadMs += step.ov_us / 1000;
    totals.tokens += step.metrics["tokens"] ?? 0;
    if (step.verdict) verdicts.set(step.verdict.cause, (verdicts.get(step.verdict.cause) ?? 0) + 1);
    bins.begin(step.step);
    bins.put("step", step.ms);
    bins.put("residual", step.residual_ms);
    for (const [name, section] of Object.entries(step.sections)) {
      bins.put(`self ${name}`, section.self_ms);
      selfMs.set(name, (selfMs.get(name) ?? 0) + (section.self_ms ?? 0));
    }
    for (const [name, lane] of Object.entries(step.lanes)) {
      bins.put(`busy ${name}`, Math.min(1, lane.busy_ms / step.ms));
      bins.put(`wait ${name}`, Math.min(1, lane.wait_ms / step.ms));
      bins.put(`overlap ${name}`, lane.overlap);
    }
    for (const [name, value] of Object.entries(step.metrics)) bins.put(`metric ${name}`, value);
    for (const [name, value] of Object.entries(step.gauges)) bins.put(`gauge ${name}`, value);
  }

  return {
    add(record) {
      if (record.kind === "header") {
        header = record;
        start ||= record.start;
      } else if (record.kind === "step") addStep(record);
      else if (record.kind === "event" && record.name === "slow" && isSlowStep(record.data))
        slow = [...slow, record.data].toSorted((a, b) => b.ms - a.ms).slice(0, mostSlow);
      else if (record.kind === "event") {
        if (record.name === "tau") bins.put("metric tau", measuredAcceptance(record.data));
        marks.push({ step: record.step, name: record.name, text: describe(record.data) });
        if (marks.length > 2 * mostMarks) marks = marks.slice(-mostMarks);
      }
    },
    data() {
      if (header === undefined) return null;
      const { p50 = null, p90 = null, p99 = null } = summary.record()?.sections["(step)"] ?? {};
      const [wait, overlap] = ["wait ", "overlap "].map((prefix) => new Map(Object.entries(bins.series(prefix))));
      const lanes = Object.entries(bins.series("busy ")).map(([name, busy]): [string, LaneData] => [
        name,
        { busy, wait: wait!.get(name) ?? [], overlap: overlap!.get(name) ?? [] },
      ]);
      const { "": stepMs = [] } = bins.series("step");
      const { "": residual = [] } = bins.series("residual");
      return {
        name: header.run,
        start,
        host: header.host,
        attempts: header.attempt,
        steps: totals.steps,
        totalMs: totals.ms,
        residualMs: totals.residualMs,
        overheadMs: totals.overheadMs,
        tokens: totals.tokens,
        ...bins.bounds(),
        stepMs,
        residual,
        sections: sectionData(header),
        selfMs: bins.series("self "),
        lanes: Object.fromEntries(lanes),
        metrics: bins.series("metric "),
        gauges: bins.series("gauge "),
        percentiles: { p50, p90, p99 },
        judgement: judgeRun(header, recent.slice(-judgedSteps), verdicts),
        slow,
        marks,
        config: Object.fromEntries(Object.entries(header.config ?? {})),
      };
    },
  };

  function sectionData({ sections }: HeaderRecord): SectionData[] {
    const beside = sectionsBeside(sections);
    const times = summary.record()?.sections ?? {};
    return sections.map((section) => ({
      ...section,
      beside: beside.has(section.name),
      selfMs: selfMs.get(section.name) ?? 0,
      p50: times[section.name]?.p50 ?? null,
      p99: times[section.name]?.p99 ?? null,
    }));
  }
}

/** Whether an event's data are what the timer tells of a slow step: a log may come from anywhere. */
function isSlowStep(data: unknown): data is SlowStep {
  return (
    hasNumbers(data, ["step", "ms", "medianMs"]) &&
    Array.isArray(data["steps"]) &&
    data["steps"].every(
      (step: unknown) =>
        hasNumbers(step, ["step", "startMs", "ms"]) && Array.isArray(step["spans"]) && step["spans"].every(isSpan),
    )
  );
}

function isSpan(span: unknown): boolean {
  return hasNumbers(span, ["startMs", "ms"]) && typeof span["name"] === "string" && typeof span["lane"] === "string";
}

function hasNumbers(value: unknown, names: readonly string[]): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const fields = new Map<string, unknown>(Object.entries(value));
  return names.every((name) => Number.isFinite(fields.get(name)));
}

/** An event's data in one line. */
function describe(data: unknown): string {
  if (data === null || data === undefined) return "";
  const text = typeof data === "string" ? data : JSON.stringify(data);
  return text.length > 160 ? `${text.slice(0, 159)}…` : text;
}
