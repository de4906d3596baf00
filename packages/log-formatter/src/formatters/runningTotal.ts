import { type LineBuffer, type Prepared, prepare, put, putNumber, putTime } from "../lineBytes.ts";
import { putLine } from "./prometheusText.ts";

/** A running total with the line starts that print it. */
export interface RunningTotal {
  ms: number;
  count: number;
  missing: number;
  readonly sumKey: Prepared;
  readonly countKey: Prepared;
  readonly missingKey: Prepared;
}

/** A total of nothing yet. */
export function createRunningTotal(name: string, label: string): RunningTotal {
  return {
    ms: 0,
    count: 0,
    missing: 0,
    sumKey: prepare(`dflash_${name}_sum${label} `),
    countKey: prepare(`dflash_${name}_count${label} `),
    missingKey: prepare(`dflash_section_missing_total${label} `),
  };
}

/** Takes in the time of a step. */
export function addTo(total: RunningTotal, ms: number | null): void {
  if (ms === null || !Number.isFinite(ms)) total.missing++;
  else {
    total.ms += ms;
    total.count++;
  }
}

/** Writes its sum and its count, a line each. */
export function putTotal(b: LineBuffer, at: number, total: RunningTotal): number {
  at = putLine(b, putTime(b, put(b, at, total.sumKey), total.ms / 1000));
  return putLine(b, putNumber(b, put(b, at, total.countKey), total.count));
}
