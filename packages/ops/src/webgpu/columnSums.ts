import type { GpuValues } from "@dflash/engine";
import { eachElement, groupsFor, type WebgpuContext } from "./webgpuContext.ts";

/** Rows that a thread adds up at once: sums have the same order every time. */
const chunk = 64;

/** Adds up the rows of a matrix [rows, width] into `sums` [width]. */
export function columnSums({
  kernel,
  scratch,
}: WebgpuContext): (x: GpuValues, rows: number, width: number, sums: GpuValues) => void {
  const add = kernel({
    name: "sums of columns",
    arrays: { x: "f32", sums: "write f32" },
    numbers: { count: "u32", width: "u32", rows: "u32", chunk: "u32" },
    code: eachElement(`
      let start = i / a.width * a.chunk;
      let end = min(start + a.chunk, a.rows);
      var sum = 0.0;
      for (var row = start; row < end; row++) { sum += x[row * a.width + i % a.width]; }
      sums[i] = sum;`),
  });
  return (x, rows, width, sums) => {
    const chunks = Math.ceil(rows / chunk);
    scratch(Math.max(1, chunks * width), (partial) => {
      add([x, partial], [chunks * width, width, rows, chunk], groupsFor(chunks * width));
      add([partial, sums], [width, width, chunks, Math.max(1, chunks)], groupsFor(width));
    });
  };
}
