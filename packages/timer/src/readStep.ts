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
import type { Causes } from "./causes.ts";
import type { LaneReport, LateColumns, ReportSnapshot, SectionReport } from "./report.ts";
import type { Registry } from "./registry.ts";

/** What a report is made of. */
export interface StepSource {
  readonly registry: Registry;
  /** Late columns that were announced. */
  readonly pending: ReadonlySet<keyof LateColumns>;
  readonly hasCauses: boolean;
  readonly totals: StepTotals;
}

/** Makes a reader that spells out what a step came to, in objects of always the same shape: quick to make and to read. */
export function createStepReader(
  source: StepSource,
): (known: Omit<ReportSnapshot, "causes" | "sections" | "lanes">) => ReportSnapshot {
  const { registry, totals } = source;
  const { infos, lanes } = registry;
  let byName: Record<string, SectionReport> = {};
  let count = 0;
  return ({ step, startMs, ms, residualMs, overheadUs, unbalanced, dropped, tags }) => {
    if (count < infos.length) {
      count = infos.length;
      byName = objectWith(infos.slice(STEP_SLOT + 1).map(({ name }) => name));
    }
    const sections = { ...byName };
    for (let slot = STEP_SLOT + 1; slot < count; slot += 1) sections[infos[slot]!.name] = readSection(source, slot);
    return {
      step,
      startMs,
      ms,
      residualMs,
      overheadUs,
      unbalanced,
      dropped,
      tags,
      causes: source.hasCauses ? readCauses(totals, STEP_SLOT) : null,
      sections,
      lanes: readLanes(lanes, totals),
    };
  };
}

/** V8 keeps keys that are set one by one in a hash table beyond a dozen of them, which is slow to make and to read; those of an object from JSON lie in a row, and so do its copies'. */
function objectWith<V>(keys: readonly string[]): Record<string, V> {
  return JSON.parse(`{${keys.map((key) => `${JSON.stringify(key)}:null`).join(",")}}`);
}

function readSection({ registry, pending, hasCauses, totals }: StepSource, slot: number): SectionReport {
  const { infos, lanes } = registry;
  const { sections } = totals;
  const { name, lane, role, waitsFor } = infos[slot]!;
  const at = slot * STRIDE;
  const total = sections[at + TOTAL]!;
  const isDropped = totals.droppedLanes > 0 && (totals.droppedLanes & (1 << lanes.indexOf(lane))) > 0;
  // A section that is open over the whole step has time and no completed call.
  const seen = !isDropped && (total > 0 || sections[at + COUNT]! > 0);
  const overlapping = seen && sections[at + OVERLAPPING]! > 0 && sections[at + SELF] === 0;
  return {
    name,
    lane,
    role,
    waitsFor,
    ms: seen ? total / 1e6 : null,
    selfMs: seen && !overlapping ? sections[at + SELF]! / 1e6 : null,
    count: sections[at + COUNT]!,
    parent: sections[at + PARENT]! > 0 ? infos[sections[at + PARENT]!]!.name : null,
    work: readWork(sections, at, 1),
    rates: total > 0 ? readWork(sections, at, total / 1e9) : null,
    causes: seen && hasCauses ? readCauses(totals, slot) : null,
    deviceMs: pending.has("deviceMs") ? null : undefined,
    gcMs: pending.has("gcMs") ? null : undefined,
    stallMs: pending.has("stallMs") ? null : undefined,
    reason: isDropped ? "dropped" : !seen ? "not reached" : overlapping ? "overlapping" : undefined,
  };
}

/** Work by unit, each divided by `by`. */
function readWork(sections: Float64Array, at: number, by: number): SectionReport["work"] {
  const tokens = sections[at + WORK_FIELDS]! / by;
  const flops = sections[at + WORK_FIELDS + 1]! / by;
  const bytes = sections[at + WORK_FIELDS + 2]! / by;
  return tokens + flops + bytes > 0 ? { tokens, flops, bytes } : null;
}

function readCauses({ causes }: StepTotals, slot: number): Causes {
  const column = (offset: number): number | null => {
    const value = causes[slot * CAUSE_COUNT + offset]!;
    return Number.isNaN(value) ? null : value;
  };
  return { kernels: column(0), newBytes: column(1), tensors: column(2), newShapes: column(3), syncMs: column(4) };
}

function readLanes(lanes: readonly string[], { sections, waits, busySets }: StepTotals): ReportSnapshot["lanes"] {
  const stepNs = sections[TOTAL]!;
  // A timer with one lane keeps no sets: that lane is busy when it neither waits nor has nothing to do.
  if (lanes.length === 1) busySets[1] = stepNs - waits[0]! - sections[SELF]!;
  /** Few of the sets that there could be. */
  const seen: number[] = [];
  for (let set = 1; set < 1 << lanes.length; set += 1) if (busySets[set]! > 0) seen.push(set);
  /** Time in which all lanes of a set were busy, ns. */
  const busy = (set: number): number => {
    let ns = 0;
    for (const other of seen) if ((other & set) === set) ns += busySets[other]!;
    return ns;
  };
  const reports: Record<string, LaneReport> = {};
  for (let lane = 0; lane < lanes.length; lane += 1) {
    const bit = 1 << lane;
    const busyNs = busy(bit);
    const shared = lane === 0 ? busyNs - busySets[bit]! : busy(bit | 1);
    const overlapMs: Record<string, number> = {};
    for (let other = 0; other < lanes.length; other += 1)
      if (other !== lane) overlapMs[lanes[other]!] = busy(bit | (1 << other)) / 1e6;
    reports[lanes[lane]!] = {
      busyMs: busyNs / 1e6,
      waitMs: waits[lane]! / 1e6,
      residualMs: (stepNs - waits[lane]! - busyNs) / 1e6,
      overlap: busyNs > 0 && lanes.length > 1 ? shared / busyNs : null,
      overlapMs,
    };
  }
  return reports;
}
