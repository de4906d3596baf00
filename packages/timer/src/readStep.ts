import { CAUSE_COUNT } from "./recording.ts";
import {
  COUNT,
  OVERLAPPING,
  PARENT,
  SELF,
  STEP_SLOT,
  type StepTotals,
  STRIDE,
  TOTAL,
  WORK_FIELDS,
} from "./stepTotals.ts";
import type { Causes, LaneReport, LateColumns, ReportSnapshot, SectionInfo, SectionReport } from "./timer.ts";

/** What a report is made of. */
export interface StepSource {
  /** By slot. */
  readonly infos: readonly SectionInfo[];
  readonly lanes: readonly string[];
  /** Late columns that were announced. */
  readonly pending: ReadonlySet<keyof LateColumns>;
  readonly hasCauses: boolean;
  readonly totals: StepTotals;
  /** What a report tells without being spelled out. */
  step: number;
  startMs: number;
  ms: number;
  residualMs: number;
  overheadUs: number;
  unbalanced: number;
  dropped: number;
  tags: readonly string[];
}

/** Spells out what a step came to. */
export function readStep(source: StepSource): ReportSnapshot {
  const {
    infos,
    lanes,
    pending,
    hasCauses,
    totals,
    step,
    startMs,
    ms,
    residualMs,
    overheadUs,
    unbalanced,
    dropped,
    tags,
  } = source;
  const late = Object.fromEntries([...pending].map((column) => [column, null]));

  function causesOf(slot: number): Causes | null {
    if (!hasCauses) return null;
    const [kernels = null, newBytes = null, tensors = null, newShapes = null, syncMs = null] = Array.from(
      totals.causes.subarray(slot * CAUSE_COUNT, (slot + 1) * CAUSE_COUNT),
      (value) => (Number.isNaN(value) ? null : value),
    );
    return { kernels, newBytes, tensors, newShapes, syncMs };
  }

  function readSection(info: SectionInfo, slot: number): SectionReport {
    const field = (offset: number): number => totals.sections[slot * STRIDE + offset]!;
    const isDropped = (totals.droppedLanes & (1 << lanes.indexOf(info.lane))) > 0;
    // A section that is open over the whole step has time and no completed call.
    const seen = !isDropped && (field(COUNT) > 0 || field(TOTAL) > 0);
    const overlapping = seen && field(OVERLAPPING) > 0 && field(SELF) === 0;
    /** Work by unit, each divided by `by`. */
    const workBy = (by: number): SectionReport["work"] => {
      const [tokens, flops, bytes] = [0, 1, 2].map((unit) => field(WORK_FIELDS + unit) / by);
      return tokens! + flops! + bytes! > 0 ? { tokens: tokens!, flops: flops!, bytes: bytes! } : null;
    };
    const reason = isDropped ? "dropped" : !seen ? "not reached" : overlapping ? "overlapping" : undefined;
    return {
      ...info,
      ms: seen ? field(TOTAL) / 1e6 : null,
      selfMs: seen && !overlapping ? field(SELF) / 1e6 : null,
      count: field(COUNT),
      parent: field(PARENT) > 0 ? infos[field(PARENT)]!.name : null,
      work: workBy(1),
      rates: field(TOTAL) > 0 ? workBy(field(TOTAL) / 1e9) : null,
      causes: seen ? causesOf(slot) : null,
      ...late,
      ...(reason && { reason }),
    };
  }

  const stepNs = totals.sections[TOTAL]!;
  const busySets = totals.busySets.subarray(0, 1 << lanes.length);
  // A timer with one lane keeps no sets: that lane is busy when it neither waits nor has nothing to do.
  if (lanes.length === 1) busySets[1] = stepNs - totals.waits[0]! - totals.sections[SELF]!;
  /** Time in which all lanes of a set were busy, ns. */
  const busy = (set: number): number =>
    busySets.reduce((sum, ns, lanesBusy) => ((lanesBusy & set) === set ? sum + ns : sum), 0);

  function readLane(lane: number): LaneReport {
    const bit = 1 << lane;
    const busyNs = busy(bit);
    const shared = lane === 0 ? busyNs - busySets[bit]! : busy(bit | 1);
    return {
      busyMs: busyNs / 1e6,
      waitMs: totals.waits[lane]! / 1e6,
      residualMs: (stepNs - totals.waits[lane]! - busyNs) / 1e6,
      overlap: busyNs > 0 && lanes.length > 1 ? shared / busyNs : null,
      overlapMs: Object.fromEntries(
        lanes.flatMap((name, other) => (other === lane ? [] : [[name, busy(bit | (1 << other)) / 1e6]])),
      ),
    };
  }

  return {
    step,
    startMs,
    ms,
    residualMs,
    overheadUs,
    unbalanced,
    dropped,
    tags,
    causes: causesOf(STEP_SLOT),
    sections: Object.fromEntries(
      infos.flatMap((info, slot) => (slot === STEP_SLOT ? [] : [[info.name, readSection(info, slot)]])),
    ),
    lanes: Object.fromEntries(lanes.map((name, lane) => [name, readLane(lane)])),
  };
}
