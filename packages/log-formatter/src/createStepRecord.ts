import type { ReportSnapshot } from "@dflash/timer";
import type { SectionRecord, StepRecord } from "./record.ts";

/** What the record takes from a timer's report. */
export type StepTimes = Pick<
  ReportSnapshot,
  "step" | "startMs" | "ms" | "residualMs" | "overheadUs" | "sections" | "lanes"
>;

/** What a training loop knows about a step besides its times. */
export interface StepRecordOptions {
  /** From 1 (default); a resumed run is the next attempt. */
  attempt?: number;
  /** Results of the step, such as `loss`, `accuracy`, `tokens_per_s`; `undefined` is missing. */
  metrics?: Readonly<Record<string, number | null | undefined>>;
  /** States at its end, such as a queue's depth. */
  gauges?: Readonly<Record<string, number | null | undefined>>;
  /** Marks such as `warmup` or `eval`. */
  tags?: readonly string[];
  /** The step's bottleneck. */
  verdict?: StepRecord["verdict"];
}

/**
 * The log record of a step from its timer report. What is missing stays null and never becomes 0; NaN and infinities become
 * null and are named in `nonfinite`.
 */
export function createStepRecord(snapshot: StepTimes, options: StepRecordOptions = {}): StepRecord {
  const nonfinite: string[] = [];
  const finite = (name: string, value: number | null | undefined): number | null => {
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
  for (const name of Object.keys(snapshot.sections)) {
    const times = snapshot.sections[name]!;
    const section: SectionRecord = { ms: finite(name, times.ms), self_ms: finite(name, times.selfMs), n: times.count };
    if (times.reason !== undefined) section.reason = times.reason;
    sections[name] = section;
  }
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
    tags: [...(options.tags ?? [])],
  };
  if (nonfinite.length > 0) record.nonfinite = nonfinite;
  return record;
}
