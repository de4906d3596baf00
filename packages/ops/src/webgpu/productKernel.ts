import type { GpuProgramSource, GpuValues } from "@dflash/engine";
import type { GpuKernel, WebgpuContext } from "./webgpuContext.ts";

/** A matrix in an array: index of its first value, and the steps between rows and between columns, one of which is 1. */
export interface Matrix {
  values: GpuValues;
  at: number;
  row: number;
  column: number;
}

/** c [m × n] = a [m × k] · b [k × n], or added to c; the columns of c lie side by side. */
export interface Product {
  m: number;
  n: number;
  k: number;
  a: Matrix;
  b: Matrix;
  c: Matrix;
  add?: boolean;
}

export const rowMajor = (values: GpuValues, columns: number, at = 0): Matrix => ({
  values,
  at,
  row: columns,
  column: 1,
});

export const transposed = ({ values, at, row, column }: Matrix): Matrix => ({ values, at, row: column, column: row });

/** Rows and columns of threads in a workgroup, and of k in a tile. */
const side = 16;

/** Workgroups from which a device is busy; below, smaller tiles make more of them. */
const manyGroups = 128;

/** Products of matrices by tiles in workgroup memory, for any of the layouts. */
export function createProduct({ kernel }: WebgpuContext): (product: Product) => void {
  const kernels = new Map<string, GpuKernel>();
  return ({ m, n, k, a, b, c, add = false }) => {
    const groupsOf = (tile: number): [number, number] => [Math.ceil(n / tile), Math.ceil(m / tile)];
    const [across, down] = groupsOf(64);
    const tile = across * down < manyGroups ? 32 : 64;
    const name = `product, tiles of ${tile}, a by ${a.column === 1 ? "rows" : "columns"}, b by ${b.column === 1 ? "rows" : "columns"}`;
    let run = kernels.get(name);
    if (run === undefined) {
      run = kernel(productSource(name, tile, a.column === 1, b.column === 1));
      kernels.set(name, run);
    }
    const numbers = [m, n, k, a.at, a.row, a.column, b.at, b.row, b.column, c.at, c.row, Number(add)];
    run([a.values, b.values, c.values], numbers, groupsOf(tile));
  };
}

const each = (count: number, text: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => text(i)).join("\n");

/** Each thread computes `tile / 16` rows and columns; neighbouring threads read neighbouring values. */
function productSource(name: string, tile: number, aByRows: boolean, bByRows: boolean): GpuProgramSource {
  const per = tile / side;
  const loads = (tile * side) / (side * side);
  const places = (byK: boolean, i: number): string =>
    byK
      ? `let inner = thread % ${side}u; let outer = thread / ${side}u + ${i * side}u;`
      : `let outer = thread % ${tile}u; let inner = thread / ${tile}u + ${i * ((side * side) / tile)}u;`;
  return {
    name,
    arrays: { x: "f32", y: "f32", z: "write f32" },
    numbers: {
      m: "u32",
      n: "u32",
      k: "u32",
      xAt: "u32",
      xRow: "u32",
      xColumn: "u32",
      yAt: "u32",
      yRow: "u32",
      yColumn: "u32",
      zAt: "u32",
      zRow: "u32",
      add: "u32",
    },
    code: `
      var<workgroup> xs: array<f32, ${side * tile}>;
      var<workgroup> ys: array<f32, ${side * tile}>;
      @compute @workgroup_size(${side}, ${side})
      fn main(
        @builtin(workgroup_id) group: vec3<u32>,
        @builtin(local_invocation_id) place: vec3<u32>,
        @builtin(local_invocation_index) thread: u32,
      ) {
        let top = group.y * ${tile}u;
        let left = group.x * ${tile}u;
        ${each(per, (i) => `var sum${i} = vec${per}<f32>();`)}
        for (var start = 0u; start < a.k; start += ${side}u) {
          ${each(
            loads,
            (i) => `{
            ${places(aByRows, i)}
            var value = 0.0;
            if (top + outer < a.m && start + inner < a.k) {
              value = x[a.xAt + (top + outer) * a.xRow + (start + inner) * a.xColumn];
            }
            xs[inner * ${tile}u + outer] = value;
          }
          {
            ${places(!bByRows, i)}
            var value = 0.0;
            if (left + outer < a.n && start + inner < a.k) {
              value = y[a.yAt + (start + inner) * a.yRow + (left + outer) * a.yColumn];
            }
            ys[inner * ${tile}u + outer] = value;
          }`,
          )}
          workgroupBarrier();
          for (var inner = 0u; inner < ${side}u; inner++) {
            let across = inner * ${tile}u + place.x * ${per}u;
            let down = inner * ${tile}u + place.y * ${per}u;
            let row = vec${per}<f32>(${Array.from({ length: per }, (_, i) => `ys[across + ${i}u]`).join(", ")});
            ${each(per, (i) => `sum${i} += xs[down + ${i}u] * row;`)}
          }
          workgroupBarrier();
        }
        ${each(
          per,
          (i) => `{
          let row = top + place.y * ${per}u + ${i}u;
          ${each(
            per,
            (j) => `{
            let column = left + place.x * ${per}u + ${j}u;
            if (row < a.m && column < a.n) {
              let at = a.zAt + row * a.zRow + column;
              var value = sum${i}[${j}];
              if (a.add == 1u) { value += z[at]; }
              z[at] = value;
            }
          }`,
          )}
        }`,
        )}
      }`,
  };
}
