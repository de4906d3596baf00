import { exp4, log } from "./exp";
import { multiplyHere } from "./gemm";
import { loadLanes, storeLanes } from "./lanes";
import { dot, exponentials, largest, multiplyBy } from "./vector";

// A run is six i32: its query rows, and the two intervals of keys that contain all keys these rows see.
const RUN_BYTES: i32 = 24;
const RUN_ROW: i32 = 0;
const RUN_ROW_END: i32 = 4;
const RUN_KEY0: i32 = 8;
const RUN_KEY0_END: i32 = 12;
const RUN_KEY1: i32 = 16;
const RUN_KEY1_END: i32 = 20;

/**
 * Masked attention of one head over one run: a tile of scores over the run's keys only, softmax over what each row sees,
 * tile · V. `logSums` [Q, heads] gets log Σ exp(scale·q·k), from which the backward pass makes the shares again. Each
 * thread's part of the scratch holds the tile and behind it what the products need.
 */
export function attention(
  task: i32, thread: i32, heads: i32, groups: i32, size: i32, q: usize, k: usize, v: usize, runs: usize, bounds: usize,
  scale: f32, y: usize, logSums: usize, scratch: usize, scratchBytes: i32, tileBytes: i32,
): void {
  const head = task % heads;
  const run = runs + (task / heads) * RUN_BYTES;
  const row = load<i32>(run, RUN_ROW);
  const rows = load<i32>(run, RUN_ROW_END) - row;
  const keys = keysOf(run);
  const qStride = heads * size * 4;
  const kStride = groups * size * 4;
  const kv = (head / (heads / groups)) * size * 4;
  const tile = scratch + thread * scratchBytes;
  const own = tile + tileBytes;
  const at = row * qStride + head * size * 4;

  rowsByKeys(run, rows, size, q + at, qStride, k + kv, kStride, tile, own);
  for (let i = 0; i < rows; i++) {
    const logSum = softmaxRow(tile + i * keys * 4, keys, run, bounds + (row + i) * 16, scale);
    store<f32>(logSums + ((row + i) * heads + head) * 4, logSum);
  }
  sharesByValues(run, rows, size, tile, v + kv, kStride, y + at, qStride, own);
}

/**
 * Gradients for one head of keys and the heads of queries that share it, over all runs in order: with p the shares,
 * dv = pᵀ·dy, ds = p·(dy·vᵀ − Σ dy·y)·scale, dq = ds·k, dk = dsᵀ·q. dq, dk and dv are 0 before. Scratch holds two tiles
 * and what the products need.
 */
export function attentionBackward(
  task: i32, thread: i32, heads: i32, groups: i32, size: i32, q: usize, k: usize, v: usize, runs: usize, runCount: i32,
  bounds: usize, scale: f32, y: usize, logSums: usize, dy: usize, dq: usize, dk: usize, dv: usize,
  scratch: usize, scratchBytes: i32, tileBytes: i32,
): void {
  const perGroup = heads / groups;
  const qStride = heads * size * 4;
  const kStride = groups * size * 4;
  const kv = task * size * 4;
  const shares = scratch + thread * scratchBytes;
  const slopes = shares + tileBytes;
  const own = slopes + tileBytes;
  for (let run = runs; run < runs + runCount * RUN_BYTES; run += RUN_BYTES) {
    const row = load<i32>(run, RUN_ROW);
    const rows = load<i32>(run, RUN_ROW_END) - row;
    const keys = keysOf(run);
    for (let head = task * perGroup; head < (task + 1) * perGroup; head++) {
      const at = row * qStride + head * size * 4;
      rowsByKeys(run, rows, size, q + at, qStride, k + kv, kStride, shares, own);
      rowsByKeys(run, rows, size, dy + at, qStride, v + kv, kStride, slopes, own);
      for (let i = 0; i < rows; i++) {
        slopesRow(
          shares + i * keys * 4, slopes + i * keys * 4, keys, run, bounds + (row + i) * 16, scale,
          load<f32>(logSums + ((row + i) * heads + head) * 4), dot(dy + at + i * qStride, y + at + i * qStride, size),
        );
      }
      sharesByRows(run, rows, size, shares, dy + at, qStride, dv + kv, kStride, own);
      sharesByValues(run, rows, size, slopes, k + kv, kStride, dq + at, qStride, own);
      sharesByRows(run, rows, size, slopes, q + at, qStride, dk + kv, kStride, own);
    }
  }
}

function keysOf(run: usize): i32 {
  return firstKeys(run) + load<i32>(run, RUN_KEY1_END) - load<i32>(run, RUN_KEY1);
}

function firstKeys(run: usize): i32 {
  return load<i32>(run, RUN_KEY0_END) - load<i32>(run, RUN_KEY0);
}

/** tile [rows × keys of the run] = rows · keysᵀ. */
function rowsByKeys(
  run: usize, rows: i32, size: i32, x: usize, xStride: i32, k: usize, kStride: i32, tile: usize, scratch: usize,
): void {
  const keys = keysOf(run);
  const first = firstKeys(run);
  const k0 = k + load<i32>(run, RUN_KEY0) * kStride;
  const k1 = k + load<i32>(run, RUN_KEY1) * kStride;
  multiplyHere(rows, first, size, x, xStride, 4, k0, 4, kStride, tile, keys * 4, false, scratch);
  multiplyHere(rows, keys - first, size, x, xStride, 4, k1, 4, kStride, tile + first * 4, keys * 4, false, scratch);
}

/** out [rows × size] = tile · values of the run's keys. */
function sharesByValues(
  run: usize, rows: i32, size: i32, tile: usize, v: usize, vStride: i32, out: usize, outStride: i32, scratch: usize,
): void {
  const keys = keysOf(run);
  const first = firstKeys(run);
  const v0 = v + load<i32>(run, RUN_KEY0) * vStride;
  const v1 = v + load<i32>(run, RUN_KEY1) * vStride;
  multiplyHere(rows, size, first, tile, keys * 4, 4, v0, vStride, 4, out, outStride, false, scratch);
  multiplyHere(rows, size, keys - first, tile + first * 4, keys * 4, 4, v1, vStride, 4, out, outStride, true, scratch);
}

/** out [keys of the run × size] += tileᵀ · rows. */
function sharesByRows(
  run: usize, rows: i32, size: i32, tile: usize, x: usize, xStride: i32, out: usize, outStride: i32, scratch: usize,
): void {
  const keys = keysOf(run);
  const first = firstKeys(run);
  const out0 = out + load<i32>(run, RUN_KEY0) * outStride;
  const out1 = out + load<i32>(run, RUN_KEY1) * outStride;
  multiplyHere(first, size, rows, tile, 4, keys * 4, x, xStride, 4, out0, outStride, true, scratch);
  multiplyHere(keys - first, size, rows, tile + first * 4, 4, keys * 4, x, xStride, 4, out1, outStride, true, scratch);
}

/** Where a key of the run lies in its tile. */
function column(run: usize, key: i32): i32 {
  const end = load<i32>(run, RUN_KEY0_END);
  return key < end ? key - load<i32>(run, RUN_KEY0) : key - load<i32>(run, RUN_KEY1) + firstKeys(run);
}

/** Scores to shares over the keys that the row sees, 0 elsewhere. Returns log Σ exp of the scaled scores; 0 when it sees none. */
function softmaxRow(row: usize, keys: i32, run: usize, bounds: usize, scale: f32): f32 {
  const n0 = load<i32>(bounds, 4) - load<i32>(bounds);
  const n1 = load<i32>(bounds, 12) - load<i32>(bounds, 8);
  const c0 = n0 > 0 ? column(run, load<i32>(bounds)) : 0;
  const c1 = n1 > 0 ? column(run, load<i32>(bounds, 8)) : c0 + n0;
  clearOutside(row, keys, c0, n0, c1, n1);
  if (n0 + n1 == 0) return 0;
  const seen0 = row + c0 * 4;
  const seen1 = row + c1 * 4;
  multiplyBy(seen0, n0, scale);
  multiplyBy(seen1, n1, scale);
  const most = max(largest(seen0, n0), largest(seen1, n1));
  const sum = exponentials(seen0, n0, most) + exponentials(seen1, n1, most);
  multiplyBy(seen0, n0, 1 / sum);
  multiplyBy(seen1, n1, 1 / sum);
  return most + log(sum);
}

/** Scores to shares p as in the forward pass, and dp to ds = p·(dp − along)·scale; both 0 where the row sees nothing. */
function slopesRow(
  row: usize, slopes: usize, keys: i32, run: usize, bounds: usize, scale: f32, logSum: f32, along: f32,
): void {
  const n0 = load<i32>(bounds, 4) - load<i32>(bounds);
  const n1 = load<i32>(bounds, 12) - load<i32>(bounds, 8);
  const c0 = n0 > 0 ? column(run, load<i32>(bounds)) : 0;
  const c1 = n1 > 0 ? column(run, load<i32>(bounds, 8)) : c0 + n0;
  clearOutside(row, keys, c0, n0, c1, n1);
  clearOutside(slopes, keys, c0, n0, c1, n1);
  slopesInterval(row + c0 * 4, slopes + c0 * 4, n0, scale, logSum, along);
  slopesInterval(row + c1 * 4, slopes + c1 * 4, n1, scale, logSum, along);
}

function slopesInterval(row: usize, slopes: usize, n: i32, scale: f32, logSum: f32, along: f32): void {
  for (let i = 0; i < n; i += 4) {
    const score = f32x4.mul(loadLanes(row + i * 4, n - i), f32x4.splat(scale));
    const share = exp4(f32x4.sub(score, f32x4.splat(logSum)));
    const slope = f32x4.sub(loadLanes(slopes + i * 4, n - i), f32x4.splat(along));
    storeLanes(row + i * 4, share, n - i);
    storeLanes(slopes + i * 4, f32x4.mul(f32x4.mul(share, slope), f32x4.splat(scale)), n - i);
  }
}

function clearOutside(row: usize, keys: i32, c0: i32, n0: i32, c1: i32, n1: i32): void {
  memory.fill(row, 0, c0 * 4);
  memory.fill(row + (c0 + n0) * 4, 0, (c1 - c0 - n0) * 4);
  memory.fill(row + (c1 + n1) * 4, 0, (keys - c1 - n1) * 4);
}
