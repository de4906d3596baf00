import type { ReportSnapshot, SectionReport } from "@dflash/timer";
import type { SectionRecord, StepRecord } from "./record.ts";

/** What the record takes from a timer's report. */
export type StepTimes = Pick<
  ReportSnapshot,
  "step" | "startMs" | "ms" | "residualMs" | "overheadUs" | "sections" | "lanes"
> &
  Partial<Pick<ReportSnapshot, "tags">>;

/** What a training loop knows about a step besides its times. */
export interface StepRecordOptions {
  /** From 1 (default); a resumed run is the next attempt. */
  attempt?: number;
  /** Results of the step, such as `loss`, `accuracy`, `tokens_per_s`; `undefined` is missing. */
  metrics?: Readonly<Record<string, number | null | undefined>>;
  /** States at its end, such as a queue's depth. */
  gauges?: Readonly<Record<string, number | null | undefined>>;
  /** Marks such as `warmup` or `eval`, besides the timer's own. */
  tags?: readonly string[];
  /** The step's bottleneck. */
  verdict?: StepRecord["verdict"];
}

/**
 * The log record of a step from its timer report. What is missing stays null and never becomes 0; NaN and infinities become
 * null and are named in `nonfinite`.
 */
export function createStepRecord(times: StepTimes, options: StepRecordOptions = {}): StepRecord {
  const nonfinite: string[] = [];
  const record: StepRecord = {
    kind: "step",
    step: times.step,
    attempt: options.attempt ?? 1,
    t_ms: times.startMs,
    ms: times.ms,
    residual_ms: times.residualMs,
    ov_us: times.overheadUs,
    sections: sectionRecords(times.sections, nonfinite),
    lanes: laneRecords(times.lanes, nonfinite),
    verdict: options.verdict ?? null,
    metrics: finiteValues(options.metrics, nonfinite),
    gauges: finiteValues(options.gauges, nonfinite),
    tags: [...(times.tags ?? []), ...(options.tags ?? [])],
  };
  if (nonfinite.length > 0) record.nonfinite = nonfinite;
  return record;
}

/**
 * A copy keeps its keys as the report had them, in a row, which is quick to make and to read; V8 puts more than a dozen keys
 * that are set one by one into a hash table.
 */
function sectionRecords(sections: StepTimes["sections"], nonfinite: string[]): StepRecord["sections"] {
  const records: Record<string, SectionRecord | SectionReport> = { ...sections };
  for (const name in sections) records[name] = sectionRecord(name, sections[name]!, nonfinite);
  // oxlint-disable-next-line no-unsafe-type-assertion -- each of them was replaced
  return records as StepRecord["sections"];
}

/** Columns that the timer or the engine can't tell are left out. */
function sectionRecord(name: string, section: SectionReport, nonfinite: string[]): SectionRecord {
  const record: SectionRecord = {
    ms: finite(name, section.ms, nonfinite),
    self_ms: finite(name, section.selfMs, nonfinite),
    n: section.count,
  };
  const { deviceMs, gcMs, stallMs, causes, work, reason } = section;
  if (deviceMs !== undefined) record.device_ms = finite(name, deviceMs, nonfinite);
  if (typeof causes?.syncMs === "number") record.sync_ms = finite(name, causes.syncMs, nonfinite);
  if (gcMs !== undefined) record.gc_ms = finite(name, gcMs, nonfinite);
  if (stallMs !== undefined) record.stall_ms = finite(name, stallMs, nonfinite);
  if (typeof causes?.kernels === "number") record.kernels = causes.kernels;
  if (typeof causes?.newBytes === "number") record.new_bytes = causes.newBytes;
  if (typeof causes?.newShapes === "number") record.new_shapes = causes.newShapes;
  if (typeof causes?.tensors === "number") record.tensors = causes.tensors;
  if (work !== null && work !== undefined) {
    if (work.tokens > 0) record.tokens = work.tokens;
    if (work.flops > 0) record.flops = work.flops;
    if (work.bytes > 0) record.bytes = work.bytes;
  }
  if (reason !== undefined) record.reason = reason;
  return record;
}

function laneRecords(lanes: StepTimes["lanes"], nonfinite: string[]): StepRecord["lanes"] {
  const records = Object.entries(lanes).map(([name, { busyMs, waitMs, overlap }]) => [
    name,
    { busy_ms: busyMs, wait_ms: waitMs, overlap: finite(name, overlap, nonfinite) },
  ]);
  return Object.fromEntries(records);
}

function finiteValues(
  values: Readonly<Record<string, number | null | undefined>> = {},
  nonfinite: string[],
): Record<string, number | null> {
  const found: Record<string, number | null | undefined> = { ...values };
  for (const name in values) found[name] = finite(name, values[name], nonfinite);
  // oxlint-disable-next-line no-unsafe-type-assertion -- each of them was replaced
  return found as Record<string, number | null>;
}

/** The value, or null; one that is not finite is noted. */
function finite(name: string, value: number | null | undefined, nonfinite: string[]): number | null {
  if (value === null || value === undefined) return null;
  if (Number.isFinite(value)) return value;
  if (!nonfinite.includes(name)) nonfinite.push(name);
  return null;
}
