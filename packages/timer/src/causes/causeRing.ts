import { SIZE } from "../recording.ts";
import type { CauseProbe } from "./causeProbe.ts";

/** Kernels, bytes, tensors, shapes, waiting. */
export const COLUMNS = 5;
const BYTES = SIZE * COLUMNS * 8;

/** Where the causes of a boundary stand in a ring, by its number. */
export const causesAt = (boundary: number): number => (boundary & (SIZE - 1)) * COLUMNS;

/** A ring of an engine's totals at every boundary of a recording. */
export function createCauseRing(shared: boolean): Float64Array {
  return new Float64Array(new (shared ? SharedArrayBuffer : ArrayBuffer)(BYTES));
}

/** Writes the totals at a boundary; what the engine can't tell is NaN. */
export function recordCauses(
  ring: Float64Array,
  boundary: number,
  { kernels, newBytes, tensors, newShapes, syncMs }: CauseProbe,
): void {
  const at = causesAt(boundary);
  ring[at] = kernels ?? Number.NaN;
  ring[at + 1] = newBytes ?? Number.NaN;
  ring[at + 2] = tensors ?? Number.NaN;
  ring[at + 3] = newShapes ?? Number.NaN;
  ring[at + 4] = syncMs ?? Number.NaN;
}
