import { loadLanes, multiplyAdd, storeLanes } from "./lanes";

/** A register tile of C is TILE × PANEL: eight accumulators and six operands fit the sixteen registers. */
const TILE: i32 = 4;
const PANEL: i32 = 8;
/** Lanes that are packed together: a cache line of floats. */
const LINE: i32 = 16;
/** Extents of a block: its rows of A stay in a core's second cache, KC rows of a panel of B in the first. */
const MC: i32 = 64;
const NC: i32 = 64;
const KC: i32 = 512;

/** Bytes in which a tile at the ragged edge is put together. */
const EDGE_BYTES: i32 = TILE * PANEL * 4;

function ceilDiv(a: i32, b: i32): i32 {
  return (a + b - 1) / b;
}

/** Parts that the operands of a product are packed in: sixteen rows of A or columns of B each. */
export function packParts(m: i32, n: i32): i32 {
  return ceilDiv(m, LINE) + ceilDiv(n, LINE);
}

/** Scratch for a product: an edge tile for each thread, then the packed operands. */
export function productBytes(m: i32, n: i32, k: i32, threads: i32): i32 {
  return threads * EDGE_BYTES + (ceilDiv(m, TILE) * TILE + ceilDiv(n, PANEL) * PANEL) * k * 4;
}

/** Tasks that {@link multiply} splits a product into. */
export function multiplyTasks(m: i32, n: i32): i32 {
  return ceilDiv(m, MC) * ceilDiv(n, NC);
}

/**
 * Lays out A [m × k] in tiles of four rows and B [k × n] in panels of eight columns, k after k, filled up with zeros.
 * Strides are in bytes, and each operand has one of 4: any transposition will do.
 */
export function pack(
  task: i32, thread: i32, parts: i32, chunk: i32, m: i32, n: i32, k: i32,
  a: usize, rsA: i32, csA: i32, b: usize, rsB: i32, csB: i32, scratch: usize, threads: i32,
): void {
  const tiles = scratch + threads * EDGE_BYTES;
  const panels = tiles + ceilDiv(m, TILE) * k * 16;
  const first = ceilDiv(m, LINE);
  const end = min(parts, (task + 1) * chunk);
  for (let part = task * chunk; part < end; part++) {
    if (part < first) {
      const row = part * LINE;
      const strips = ceilDiv(min(LINE, m - row), TILE);
      packLine(strips, m - row, k, a + row * rsA, rsA, csA, tiles + row * k * 4, k * 16, k * 32, TILE * 4);
    } else {
      const column = (part - first) * LINE;
      const strips = 2 * ceilDiv(min(LINE, n - column), PANEL);
      packLine(strips, n - column, k, b + column * csB, csB, rsB, panels + column * k * 4, 16, k * 32, PANEL * 4);
    }
  }
}

/**
 * Up to four strips of four lanes, of which `left` lanes exist. The second strip goes `second` bytes behind the first, the
 * other two `pair` bytes behind these. Where lanes lie side by side all strips are read at once, a cache line for each k.
 */
function packLine(
  strips: i32, left: i32, k: i32, from: usize, laneStride: i32, kStride: i32,
  to: usize, second: i32, pair: i32, toStride: i32,
): void {
  if (left < LINE || laneStride != 4) {
    for (let strip = 0; strip < strips; strip++) {
      const at = to + (strip & 1) * second + (strip >> 1) * pair;
      packStrip(left - 4 * strip, k, from + 4 * strip * laneStride, laneStride, kStride, at, toStride);
    }
    return;
  }
  for (let p = 0; p < k; p++, from += kStride, to += toStride) {
    v128.store(to, v128.load(from));
    v128.store(to + second, v128.load(from, 16));
    v128.store(to + pair, v128.load(from, 32));
    v128.store(to + pair + second, v128.load(from, 48));
  }
}

/** Four lanes, of which `left` exist, for each k. */
function packStrip(left: i32, k: i32, from: usize, laneStride: i32, kStride: i32, to: usize, toStride: i32): void {
  let p = 0;
  if (left >= 4 && kStride == 4) {
    for (; p + 4 <= k; p += 4) transpose4(from + p * 4, laneStride, to + p * toStride, toStride);
  }
  for (; p < k; p++) {
    for (let lane = 0; lane < 4; lane++) {
      const value = lane < left ? load<f32>(from + p * kStride + lane * laneStride) : 0;
      store<f32>(to + p * toStride + lane * 4, value);
    }
  }
}

function transpose4(from: usize, stride: i32, to: usize, toStride: i32): void {
  const a = v128.load(from);
  const b = v128.load(from + stride);
  const c = v128.load(from + 2 * stride);
  const d = v128.load(from + 3 * stride);
  const ab01 = v128.shuffle<f32>(a, b, 0, 4, 1, 5);
  const cd01 = v128.shuffle<f32>(c, d, 0, 4, 1, 5);
  const ab23 = v128.shuffle<f32>(a, b, 2, 6, 3, 7);
  const cd23 = v128.shuffle<f32>(c, d, 2, 6, 3, 7);
  v128.store(to, v128.shuffle<f64>(ab01, cd01, 0, 2));
  v128.store(to + toStride, v128.shuffle<f64>(ab01, cd01, 1, 3));
  v128.store(to + 2 * toStride, v128.shuffle<f64>(ab23, cd23, 0, 2));
  v128.store(to + 3 * toStride, v128.shuffle<f64>(ab23, cd23, 1, 3));
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
