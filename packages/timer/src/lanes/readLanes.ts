import type { LaneReport } from "../report.ts";
import { SELF, STEP_SLOT, type StepTotals, TOTAL } from "../stepTotals.ts";
import type { LaneTotals } from "./laneTotals.ts";
import { OWN } from "./registry.ts";

/** Spells out what the lanes did in a step. */
export function readLanes(
  names: readonly string[],
  { sections }: StepTotals,
  { waits, busySets }: LaneTotals,
): Record<string, LaneReport> {
  const stepNs = sections[STEP_SLOT + TOTAL]!;
  // With one lane no sets are kept: that lane is busy when it neither waits nor has nothing to do.
  if (names.length === 1) busySets[1] = stepNs - waits[OWN]! - sections[STEP_SLOT + SELF]!;
  /** Few of the sets that there could be. */
  const seen: number[] = [];
  for (let set = 1; set < 1 << names.length; set += 1) if (busySets[set]! > 0) seen.push(set);
  /** Time in which all lanes of a set were busy, ns. */
  const busy = (set: number): number => {
    let ns = 0;
    for (const other of seen) if ((other & set) === set) ns += busySets[other]!;
    return ns;
  };
  const reports: Record<string, LaneReport> = {};
  for (const [lane, name] of names.entries()) {
    const bit = 1 << lane;
    const busyNs = busy(bit);
    const shared = lane === OWN ? busyNs - busySets[bit]! : busy(bit | 1);
    const overlapMs: Record<string, number> = {};
    for (const [other, otherName] of names.entries())
      if (other !== lane) overlapMs[otherName] = busy(bit | (1 << other)) / 1e6;
    reports[name] = {
      busyMs: busyNs / 1e6,
      waitMs: waits[lane]! / 1e6,
      residualMs: (stepNs - waits[lane]! - busyNs) / 1e6,
      overlap: busyNs > 0 && names.length > 1 ? shared / busyNs : null,
      overlapMs,
    };
  }
  return reports;
}
