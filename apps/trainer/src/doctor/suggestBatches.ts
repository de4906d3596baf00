import type { StepCost } from "./stepCost.ts";

/** A batch, and what a step of it takes at most. */
export interface Suggestion {
  readonly rows: number;
  readonly anchors: number;
  readonly bytes: number;
  readonly ms: number;
}

export interface SuggestOptions {
  readonly cost: StepCost;
  /** Memory that may be used. */
  readonly bytes: number;
  /** Tokens of the longest record. */
  readonly maxLength: number;
  readonly blockSize: number;
}

const anchorsToTry = [32, 64, 128, 256, 512];
const mostRows = 4096;

/** For each number of anchors the most rows, a power of two, that fit even if all records are as long as they may be. */
export function suggestBatches({ cost, bytes, maxLength, blockSize }: SuggestOptions): Suggestion[] {
  const suggestions: Suggestion[] = [];
  for (const anchors of anchorsToTry.filter((count) => count <= Math.max(maxLength, anchorsToTry[0]!))) {
    const fitting = (rows: number): boolean =>
      rows <= mostRows && cost.bytes(rows * maxLength, rows * anchors * blockSize) <= bytes;
    let rows = 1;
    while (fitting(2 * rows)) rows *= 2;
    if (!fitting(rows)) continue;
    const size = [rows * maxLength, rows * anchors * blockSize] as const;
    suggestions.push({ rows, anchors, bytes: cost.bytes(...size), ms: cost.ms(...size) });
  }
  return suggestions;
}
