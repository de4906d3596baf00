import { MAX_LANES } from "./registry.ts";

/** What the lanes did in one step, ns. */
export interface LaneTotals {
  /** Lanes whose boundaries were lost, a bit a lane. */
  dropped: number;
  /** Time waiting by lane; the own lane's includes what other lanes did inside it. */
  readonly waits: Float64Array;
  /** Time by the set of lanes that were busy, a bit a lane; empty with one lane. */
  readonly busySets: Float64Array;
}

/** Empty totals. */
export function createLaneTotals(): LaneTotals {
  return { dropped: 0, waits: new Float64Array(MAX_LANES), busySets: new Float64Array(1 << MAX_LANES) };
}

/** Makes room for the next step. */
export function clearLaneTotals(totals: LaneTotals, laneCount: number): void {
  totals.dropped = 0;
  totals.waits.fill(0);
  totals.busySets.fill(0, 0, 1 << laneCount);
}
