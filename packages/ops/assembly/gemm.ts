import { loadLanes, storeLanes } from "./lanes";

/** Columns of a packed panel, and rows of a register tile: eight accumulators and three operands fit the sixteen registers. */
const PANEL: i32 = 8;
const TILE: i32 = 4;
/** Blocks of the three axes: a packed block of B (KC × NC) and the rows of A that meet it stay in a core's cache. */
const KC: i32 = 512;
const NC: i32 = 64;
const MC: i32 = 64;
/** Rows a task takes, so that products with few columns still spread over threads. */
const TASK_ROWS: i32 = 256;

/** Scratch of {@link multiplyBlock}: a packed block of B, one of A, and one register tile for the ragged edge. */
const PACKED_A: i32 = KC * NC * 4;
const EDGE: i32 = PACKED_A + KC * MC * 4;

/** Bytes of scratch that {@link multiplyBlock} needs. */
export function gemmScratchBytes(): i32 {
  return EDGE + TILE * PANEL * 4;
}

/** Tasks that {@link multiply} splits an m × n product into. */
export function multiplyTasks(m: i32, n: i32): i32 {
  return rowBlocks(m) * ((n + NC - 1) / NC);
}

function rowBlocks(m: i32): i32 {
  return (m + TASK_ROWS - 1) / TASK_ROWS;
}

/**
 * One task of C (+)= A·B for any strides (bytes), so that no operand is ever transposed in memory: A is m × k, B is k × n
 * and each has a stride of 4, C is m × n with contiguous rows `rsC` apart. Every element is summed in the same order
 * whichever thread takes the task.
 */
export function multiply(
  task: i32, thread: i32, m: i32, n: i32, k: i32,
  a: usize, rsA: i32, csA: i32, b: usize, rsB: i32, csB: i32, c: usize, rsC: i32, add: bool, scratch: usize,
): void {
  const blocks = rowBlocks(m);
  const rows = ((m + blocks - 1) / blocks + TILE - 1) & ~(TILE - 1);
  const m0 = (task % blocks) * rows;
  const n0 = (task / blocks) * NC;
  if (m0 >= m) return;
  multiplyBlock(
    min(rows, m - m0), min(NC, n - n0), k,
    a + m0 * rsA, rsA, csA, b + n0 * csB, rsB, csB, c + m0 * rsC + n0 * 4, rsC, add, scratch + thread * gemmScratchBytes(),
  );
}

/** C (+)= A·B in this thread; operands as for {@link multiply}. */
export function multiplyBlock(
  m: i32, n: i32, k: i32,
  a: usize, rsA: i32, csA: i32, b: usize, rsB: i32, csB: i32, c: usize, rsC: i32, add: bool, scratch: usize,
): void {
  for (let n0 = 0; n0 < n; n0 += NC) {
    const nc = min(NC, n - n0);
    let k0 = 0;
    do {
      const kc = min(KC, k - k0);
      packB(kc, nc, b + k0 * rsB + n0 * csB, rsB, csB, scratch);
      for (let m0 = 0; m0 < m; m0 += MC) {
        const mc = min(MC, m - m0);
        const from = a + m0 * rsA + k0 * csA;
        const to = c + m0 * rsC + n0 * 4;
        if (csA == 4) {
          multiplyPacked(mc, nc, kc, from, rsA, csA, TILE * rsA, to, rsC, add || k0 > 0, scratch);
        } else {
          packA(mc, kc, from, csA, scratch + PACKED_A);
          multiplyPacked(mc, nc, kc, scratch + PACKED_A, 4, TILE * 4, kc * TILE * 4, to, rsC, add || k0 > 0, scratch);
        }
      }
      k0 += KC;
    } while (k0 < k);
  }
}

/** C (+)= A·B for a packed block of B; rows of A come in tiles that are `tileA` apart. */
function multiplyPacked(
  m: i32, n: i32, k: i32,
  a: usize, rsA: i32, csA: i32, tileA: i32, c: usize, rsC: i32, add: bool, packed: usize,
): void {
  const edge = packed + EDGE;
  for (let j = 0; j < n; j += PANEL) {
    const panel = packed + j * k * 4;
    const left = n - j;
    let ai = a;
    for (let i = 0; i < m; i += TILE, ai += tileA) {
      const rows = min(TILE, m - i);
      const ci = c + i * rsC + j * 4;
      if (left >= PANEL) {
        multiplyTile(rows, k, ai, rsA, csA, panel, ci, rsC, add);
      } else {
        if (add) copyTile(rows, left, ci, rsC, edge, PANEL * 4);
        multiplyTile(rows, k, ai, rsA, csA, panel, edge, PANEL * 4, add);
        copyTile(rows, left, edge, PANEL * 4, ci, rsC);
      }
    }
  }
}

function copyTile(rows: i32, columns: i32, from: usize, fromStride: i32, to: usize, toStride: i32): void {
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < columns; j += 4) {
      storeLanes(to + i * toStride + j * 4, loadLanes(from + i * fromStride + j * 4, columns - j), columns - j);
    }
  }
}

/** Columns of a transposed A, whose rows lie apart by 4 bytes, in tiles of four rows, k after k. */
function packA(m: i32, k: i32, a: usize, csA: i32, packed: usize): void {
  for (let i = 0; i < m; i += TILE) {
    let from = a + i * 4;
    for (let p = 0; p < k; p++) {
      v128.store(packed, loadLanes(from, m - i));
      from += csA;
      packed += TILE * 4;
    }
  }
}

/** Rows of B in panels of eight columns, k after k; a last, narrower panel is filled up with zeros. */
function packB(k: i32, n: i32, b: usize, rsB: i32, csB: i32, packed: usize): void {
  for (let j = 0; j < n; j += PANEL) {
    const from = b + j * csB;
    const to = packed + j * k * 4;
    if (n - j < PANEL) packEdge(k, n - j, from, rsB, csB, to);
    else if (csB == 4) packRows(k, from, rsB, to);
    else packColumns(k, from, csB, to);
  }
}

function packEdge(k: i32, n: i32, b: usize, rsB: i32, csB: i32, packed: usize): void {
  for (let p = 0; p < k; p++) {
    for (let j = 0; j < PANEL; j++) {
      store<f32>(packed + (p * PANEL + j) * 4, j < n ? load<f32>(b + p * rsB + j * csB) : 0);
    }
  }
}

function packRows(k: i32, b: usize, rsB: i32, packed: usize): void {
  for (let p = 0; p < k; p++) {
    v128.store(packed, v128.load(b));
    v128.store(packed, v128.load(b, 16), 16);
    b += rsB;
    packed += PANEL * 4;
  }
}

/** Eight columns whose k lies contiguous: 4 × 4 transpositions in registers. */
function packColumns(k: i32, b: usize, csB: i32, packed: usize): void {
  let p = 0;
  for (; p + 4 <= k; p += 4) {
    transpose4(b + p * 4, csB, packed + p * PANEL * 4);
    transpose4(b + p * 4 + 4 * csB, csB, packed + p * PANEL * 4 + 16);
  }
  for (; p < k; p++) {
    for (let j = 0; j < PANEL; j++) store<f32>(packed + (p * PANEL + j) * 4, load<f32>(b + p * 4 + j * csB));
  }
}

function transpose4(from: usize, stride: i32, to: usize): void {
  const a = v128.load(from);
  const b = v128.load(from + stride);
  const c = v128.load(from + 2 * stride);
  const d = v128.load(from + 3 * stride);
  const ab01 = v128.shuffle<f32>(a, b, 0, 4, 1, 5);
  const cd01 = v128.shuffle<f32>(c, d, 0, 4, 1, 5);
  const ab23 = v128.shuffle<f32>(a, b, 2, 6, 3, 7);
  const cd23 = v128.shuffle<f32>(c, d, 2, 6, 3, 7);
  v128.store(to, v128.shuffle<f64>(ab01, cd01, 0, 2));
  v128.store(to, v128.shuffle<f64>(ab01, cd01, 1, 3), PANEL * 4);
  v128.store(to, v128.shuffle<f64>(ab23, cd23, 0, 2), 2 * PANEL * 4);
  v128.store(to, v128.shuffle<f64>(ab23, cd23, 1, 3), 3 * PANEL * 4);
}

function multiplyTile(
  rows: i32, k: i32, a: usize, rsA: i32, csA: i32, panel: usize, c: usize, rsC: i32, add: bool,
): void {
  if (rows == TILE) {
    multiplyTile4(k, a, rsA, csA, panel, c, rsC, add);
  } else {
    for (let i = 0; i < rows; i++) multiplyTile1(k, a + i * rsA, csA, panel, c + i * rsC, add);
  }
}

/** A 4 × 8 tile of C, held in registers while k runs. */
function multiplyTile4(
  k: i32, a: usize, rsA: i32, csA: i32, panel: usize, c: usize, rsC: i32, add: bool,
): void {
  let a0 = a;
  let a1 = a + rsA;
  let a2 = a1 + rsA;
  let a3 = a2 + rsA;
  let c00 = f32x4.splat(0);
  let c01 = f32x4.splat(0);
  let c10 = f32x4.splat(0);
  let c11 = f32x4.splat(0);
  let c20 = f32x4.splat(0);
  let c21 = f32x4.splat(0);
  let c30 = f32x4.splat(0);
  let c31 = f32x4.splat(0);
  for (let p = 0; p < k; p++) {
    const b0 = v128.load(panel);
    const b1 = v128.load(panel, 16);
    panel += PANEL * 4;
    let x = v128.load32_splat(a0);
    a0 += csA;
    c00 = f32x4.add(c00, f32x4.mul(x, b0));
    c01 = f32x4.add(c01, f32x4.mul(x, b1));
    x = v128.load32_splat(a1);
    a1 += csA;
    c10 = f32x4.add(c10, f32x4.mul(x, b0));
    c11 = f32x4.add(c11, f32x4.mul(x, b1));
    x = v128.load32_splat(a2);
    a2 += csA;
    c20 = f32x4.add(c20, f32x4.mul(x, b0));
    c21 = f32x4.add(c21, f32x4.mul(x, b1));
    x = v128.load32_splat(a3);
    a3 += csA;
    c30 = f32x4.add(c30, f32x4.mul(x, b0));
    c31 = f32x4.add(c31, f32x4.mul(x, b1));
  }
  storeRow(c, c00, c01, add);
  storeRow(c + rsC, c10, c11, add);
  storeRow(c + 2 * rsC, c20, c21, add);
  storeRow(c + 3 * rsC, c30, c31, add);
}

function multiplyTile1(k: i32, a: usize, csA: i32, panel: usize, c: usize, add: bool): void {
  let c0 = f32x4.splat(0);
  let c1 = f32x4.splat(0);
  for (let p = 0; p < k; p++) {
    const x = v128.load32_splat(a);
    a += csA;
    c0 = f32x4.add(c0, f32x4.mul(x, v128.load(panel)));
    c1 = f32x4.add(c1, f32x4.mul(x, v128.load(panel, 16)));
    panel += PANEL * 4;
  }
  storeRow(c, c0, c1, add);
}

function storeRow(c: usize, c0: v128, c1: v128, add: bool): void {
  v128.store(c, add ? f32x4.add(v128.load(c), c0) : c0);
  v128.store(c, add ? f32x4.add(v128.load(c, 16), c1) : c1, 16);
}
