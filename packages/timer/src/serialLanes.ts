import type { LaneReport } from "./report.ts";
import type { SectionInfo } from "./section.ts";
import { SELF, STEP_SLOT, type StepTotals, STRIDE, TOTAL } from "./stepTotals.ts";

/** What lanes that take turns did in a step; the own lane waits while another one has its turn. */
export function serialLanes(infos: readonly SectionInfo[], { sections }: StepTotals): Record<string, LaneReport> {
  const own = infos[STEP_SLOT]!.lane;
  const residualMs = sections[STEP_SLOT + TOTAL]! / 1e6;
  const reports: Record<string, { -readonly [F in keyof LaneReport]: LaneReport[F] }> = {};
  infos.forEach(({ lane, role }, slot) => {
    const report = (reports[lane] ??= { busyMs: 0, waitMs: 0, residualMs, overlap: null, overlapMs: {} });
    if (slot === STEP_SLOT) return;
    const ms = sections[slot * STRIDE + SELF]! / 1e6;
    report[role === "wait" ? "waitMs" : "busyMs"] += ms;
    report.residualMs -= ms;
    if (lane === own) return;
    reports[own]!.waitMs += ms;
    reports[own]!.residualMs -= ms;
  });
  return reports;
}
