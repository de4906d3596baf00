import type { TimerInternals } from "./internals.ts";
import type { ReportSnapshot, SectionReport } from "./report.ts";
import { COUNT, OVERLAPPING, PARENT, SELF, STEP_SLOT, STRIDE, TOTAL, WORK_FIELDS } from "./stepTotals.ts";

/** Spells out a step's sections, in objects of always the same shape: quick to make and to read. */
export function readSections(internals: TimerInternals): ReportSnapshot["sections"] {
  const { infos } = internals;
  const sections = { ...internals.byName };
  for (let slot = STEP_SLOT + 1; slot < infos.length; slot += 1)
    sections[infos[slot]!.name] = readSection(internals, slot);
  return sections;
}

function readSection({ infos, totals: { sections }, replay, late }: TimerInternals, slot: number): SectionReport {
  const { name, lane, role, waitsFor } = infos[slot]!;
  const { deviceMs, gcMs, stallMs } = late;
  const at = slot * STRIDE;
  const total = sections[at + TOTAL]!;
  const self = sections[at + SELF]!;
  const count = sections[at + COUNT]!;
  const parent = sections[at + PARENT]!;
  // A section that is open over the whole step has time and no completed call.
  const reason = replay.lost?.(slot)
    ? "dropped"
    : total + count === 0
      ? "not reached"
      : sections[at + OVERLAPPING]! > 0 && self === 0
        ? "overlapping"
        : undefined;
  const isSeen = reason === undefined || reason === "overlapping";
  return {
    name,
    lane,
    role,
    waitsFor,
    ms: isSeen ? total / 1e6 : null,
    selfMs: reason === undefined ? self / 1e6 : null,
    count,
    parent: parent > 0 ? infos[parent]!.name : null,
    work: readWork(sections, at, 1),
    rates: readWork(sections, at, total / 1e9),
    causes: (isSeen && replay.causes?.(slot)) || null,
    deviceMs,
    gcMs,
    stallMs,
    reason,
  };
}

/** Work by unit, each divided by `by`. */
function readWork(sections: Float64Array, at: number, by: number): SectionReport["work"] {
  const tokens = sections[at + WORK_FIELDS]! / by;
  const flops = sections[at + WORK_FIELDS + 1]! / by;
  const bytes = sections[at + WORK_FIELDS + 2]! / by;
  return by > 0 && tokens + flops + bytes > 0 ? { tokens, flops, bytes } : null;
}
