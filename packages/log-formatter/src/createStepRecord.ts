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

/** A value of this name, null and noted where it is not finite. */
type Finite = (name: string, value: number | null | undefined) => number | null;

/**
 * The log record of a step from its timer report. What is missing stays null and never becomes 0; NaN and infinities become
 * null and are named in `nonfinite`.
 */
export function createStepRecord(snapshot: StepTimes, options: StepRecordOptions = {}): StepRecord {
  const nonfinite: string[] = [];
  const finite: Finite = (name, value) => {
    if (value === null || value === undefined) return null;
    if (Number.isFinite(value)) return value;
    if (!nonfinite.includes(name)) nonfinite.push(name);
    return null;
  };
  const values = (from: Readonly<Record<string, number | null | undefined>> = {}): Record<string, number | null> => {
    const to: Record<string, number | null> = {};
    for (const name of Object.keys(from)) to[name] = finite(name, from[name]);
    return to;
  };

  const sections: StepRecord["sections"] = {};
  for (const name of Object.keys(snapshot.sections))
    sections[name] = sectionRecord(name, snapshot.sections[name]!, finite);
  const lanes: StepRecord["lanes"] = {};
  for (const name of Object.keys(snapshot.lanes)) {
    const { busyMs, waitMs, overlap } = snapshot.lanes[name]!;
    lanes[name] = { busy_ms: busyMs, wait_ms: waitMs, overlap: finite(name, overlap) };
  }
  const record: StepRecord = {
    kind: "step",
    step: snapshot.step,
    attempt: options.attempt ?? 1,
    t_ms: snapshot.startMs,
    ms: snapshot.ms,
    residual_ms: snapshot.residualMs,
    ov_us: snapshot.overheadUs,
    sections,
    lanes,
    verdict: options.verdict ?? null,
    metrics: values(options.metrics),
    gauges: values(options.gauges),
    tags: [...(snapshot.tags ?? []), ...(options.tags ?? [])],
  };
  if (nonfinite.length > 0) record.nonfinite = nonfinite;
  return record;
}

/** Columns that the timer or the engine can't tell are left out. */
function sectionRecord(
  name: string,
  { ms, selfMs, count, deviceMs, gcMs, stallMs, causes, work, reason }: SectionReport,
  finite: Finite,
): SectionRecord {
  const section: SectionRecord = { ms: finite(name, ms), self_ms: finite(name, selfMs), n: count };
  if (deviceMs !== undefined) section.device_ms = finite(name, deviceMs);
  if (typeof causes?.syncMs === "number") section.sync_ms = finite(name, causes.syncMs);
  if (gcMs !== undefined) section.gc_ms = finite(name, gcMs);
  if (stallMs !== undefined) section.stall_ms = finite(name, stallMs);
  if (typeof causes?.kernels === "number") section.kernels = causes.kernels;
  if (typeof causes?.newBytes === "number") section.new_bytes = causes.newBytes;
  if (typeof causes?.newShapes === "number") section.new_shapes = causes.newShapes;
  if (typeof causes?.tensors === "number") section.tensors = causes.tensors;
  if (work !== null && work !== undefined) {
    if (work.tokens > 0) section.tokens = work.tokens;
    if (work.flops > 0) section.flops = work.flops;
    if (work.bytes > 0) section.bytes = work.bytes;
  }
  if (reason !== undefined) section.reason = reason;
  return section;
}
