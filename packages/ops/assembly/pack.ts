/** A register tile of C is TILE × PANEL: eight accumulators and six operands fit the sixteen registers. */
export const TILE: i32 = 4;
export const PANEL: i32 = 8;
/** Lanes that are packed together: a cache line of floats. */
const LINE: i32 = 16;

/** Bytes in which a tile at the ragged edge is put together, before the packed operands, for each thread. */
export const EDGE_BYTES: i32 = TILE * PANEL * 4;

export function ceilDiv(a: i32, b: i32): i32 {
  return (a + b - 1) / b;
}

/** Parts that the operands of a product are packed in: sixteen rows of A or columns of B each. */
export function packParts(m: i32, n: i32): i32 {
  return ceilDiv(m, LINE) + ceilDiv(n, LINE);
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
