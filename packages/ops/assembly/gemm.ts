import { loadLanes, multiplyAdd, storeLanes } from "./lanes";
import { ceilDiv, EDGE_BYTES, pack, packParts, PANEL, TILE } from "./pack";

/** Extents of a block: its rows of A stay in a core's second cache, KC rows of a panel of B in the first. */
const MC: i32 = 64;
const NC: i32 = 64;
const KC: i32 = 512;

/** Scratch for a product: an edge tile for each thread, then the packed operands. */
export function productBytes(m: i32, n: i32, k: i32, threads: i32): i32 {
  return threads * EDGE_BYTES + (ceilDiv(m, TILE) * TILE + ceilDiv(n, PANEL) * PANEL) * k * 4;
}

/** Tasks that {@link multiply} splits a product into. */
export function multiplyTasks(m: i32, n: i32): i32 {
  return ceilDiv(m, MC) * ceilDiv(n, NC);
}

/**
 * One task of C (+)= A·B from packed operands; C has contiguous rows `rsC` bytes apart. Every element is summed in the
 * same order whichever thread takes the task.
 */
export function multiply(
  task: i32, thread: i32, m: i32, n: i32, k: i32, c: usize, rsC: i32, add: bool, scratch: usize, threads: i32,
): void {
  const packed = scratch + threads * EDGE_BYTES;
  const edge = scratch + thread * EDGE_BYTES;
  const blocks = ceilDiv(m, MC);
  const row = (task % blocks) * MC;
  const column = (task / blocks) * NC;
  multiplyPacked(row, min(m, row + MC), column, min(n, column + NC), m, k, packed, c, rsC, add, edge);
}

/** C (+)= A·B in this thread; `scratch` holds {@link productBytes} for one thread. */
export function multiplyHere(
  m: i32, n: i32, k: i32, a: usize, rsA: i32, csA: i32, b: usize, rsB: i32, csB: i32,
  c: usize, rsC: i32, add: bool, scratch: usize,
): void {
  const parts = packParts(m, n);
  pack(0, 0, parts, parts, m, n, k, a, rsA, csA, b, rsB, csB, scratch, 1);
  multiplyPacked(0, m, 0, n, m, k, scratch + EDGE_BYTES, c, rsC, add, scratch);
}

/** The part of C from `row` to `rowEnd` and from `column` to `columnEnd`. */
function multiplyPacked(
  row: i32, rowEnd: i32, column: i32, columnEnd: i32, m: i32, k: i32,
  packed: usize, c: usize, rsC: i32, add: bool, edge: usize,
): void {
  const panels = packed + ceilDiv(m, TILE) * k * 16;
  let k0 = 0;
  do {
    const kc = min(KC, k - k0);
    const onto = add || k0 > 0;
    for (let j = column; j < columnEnd; j += PANEL) {
      const panel = panels + (j * k + k0 * PANEL) * 4;
      for (let i = row; i < rowEnd; i += TILE) {
        const tile = packed + (i * k + k0 * TILE) * 4;
        const to = c + i * rsC + j * 4;
        const rows = min(TILE, rowEnd - i);
        const columns = min(PANEL, columnEnd - j);
        if (rows == TILE && columns == PANEL) {
          multiplyTile(kc, tile, panel, to, rsC, onto);
        } else {
          if (onto) copyTile(rows, columns, to, rsC, edge, PANEL * 4);
          multiplyTile(kc, tile, panel, edge, PANEL * 4, onto);
          copyTile(rows, columns, edge, PANEL * 4, to, rsC);
        }
      }
    }
    k0 += KC;
  } while (k0 < k);
}

function copyTile(rows: i32, columns: i32, from: usize, fromStride: i32, to: usize, toStride: i32): void {
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < columns; j += 4) {
      storeLanes(to + i * toStride + j * 4, loadLanes(from + i * fromStride + j * 4, columns - j), columns - j);
    }
  }
}

/** A tile of C, held in registers while k runs. */
function multiplyTile(k: i32, tile: usize, panel: usize, c: usize, rsC: i32, add: bool): void {
  let c00 = f32x4.splat(0);
  let c01 = f32x4.splat(0);
  let c10 = f32x4.splat(0);
  let c11 = f32x4.splat(0);
  let c20 = f32x4.splat(0);
  let c21 = f32x4.splat(0);
  let c30 = f32x4.splat(0);
  let c31 = f32x4.splat(0);
  for (const end = panel + k * PANEL * 4; panel < end; panel += PANEL * 4, tile += TILE * 4) {
    const b0 = v128.load(panel);
    const b1 = v128.load(panel, 16);
    const a0 = v128.load32_splat(tile);
    c00 = multiplyAdd(a0, b0, c00);
    c01 = multiplyAdd(a0, b1, c01);
    const a1 = v128.load32_splat(tile, 4);
    c10 = multiplyAdd(a1, b0, c10);
    c11 = multiplyAdd(a1, b1, c11);
    const a2 = v128.load32_splat(tile, 8);
    c20 = multiplyAdd(a2, b0, c20);
    c21 = multiplyAdd(a2, b1, c21);
    const a3 = v128.load32_splat(tile, 12);
    c30 = multiplyAdd(a3, b0, c30);
    c31 = multiplyAdd(a3, b1, c31);
  }
  storeRow(c, c00, c01, add);
  storeRow(c + rsC, c10, c11, add);
  storeRow(c + 2 * rsC, c20, c21, add);
  storeRow(c + 3 * rsC, c30, c31, add);
}

function storeRow(c: usize, c0: v128, c1: v128, add: bool): void {
  v128.store(c, add ? f32x4.add(v128.load(c), c0) : c0);
  v128.store(c, add ? f32x4.add(v128.load(c, 16), c1) : c1, 16);
}
