import { loadLanes, storeLanes } from "./lanes";

/** Half-rotation rotary embedding: (a, b) → (a·cos − b·sin, b·cos + a·sin) over the halves of each head. */
export function rotary(
  task: i32, thread: i32, tokens: i32, chunk: i32, heads: i32, half: i32, x: usize, cos: usize, sin: usize, positions: usize,
  sign: f32, y: usize,
): void {
  const end = min(tokens, (task + 1) * chunk);
  for (let token = task * chunk; token < end; token++) {
    const angles = load<i32>(positions + token * 4) * half * 4;
    for (let head = token * heads; head < (token + 1) * heads; head++) {
      for (let i = 0; i < half; i += 4) {
        const left = half - i;
        const low = (head * 2 * half + i) * 4;
        const high = low + half * 4;
        const a = loadLanes(x + low, left);
        const b = loadLanes(x + high, left);
        const c = loadLanes(cos + angles + i * 4, left);
        const s = f32x4.mul(loadLanes(sin + angles + i * 4, left), f32x4.splat(sign));
        storeLanes(y + low, f32x4.sub(f32x4.mul(a, c), f32x4.mul(b, s)), left);
        storeLanes(y + high, f32x4.add(f32x4.mul(b, c), f32x4.mul(a, s)), left);
      }
    }
  }
}

/** Copies stretches of `bytes` from places `fromStride` apart to places `toStride` apart. */
export function copyRows(
  task: i32, thread: i32, rows: i32, chunk: i32, bytes: i32, from: usize, fromStride: i32, to: usize, toStride: i32,
): void {
  const end = min(rows, (task + 1) * chunk);
  for (let row = task * chunk; row < end; row++) memory.copy(to + row * toStride, from + row * fromStride, bytes);
}

/** y[i] = x[indices[i]], rows of `bytes`. */
export function gatherRows(
  task: i32, thread: i32, count: i32, chunk: i32, bytes: i32, x: usize, indices: usize, y: usize,
): void {
  const end = min(count, (task + 1) * chunk);
  for (let i = task * chunk; i < end; i++) memory.copy(y + i * bytes, x + load<i32>(indices + i * 4) * bytes, bytes);
}

/** y[indices[i]] += x[i] for some columns of all rows, in order of i. */
export function scatterAddRows(
  task: i32, thread: i32, width: i32, chunk: i32, count: i32, x: usize, indices: usize, y: usize,
): void {
  const end = min(width, (task + 1) * chunk);
  for (let i = 0; i < count; i++) {
    const to = y + load<i32>(indices + i * 4) * width * 4;
    const from = x + i * width * 4;
    for (let j = task * chunk; j < end; j += 4) {
      const sum = f32x4.add(loadLanes(to + j * 4, end - j), loadLanes(from + j * 4, end - j));
      storeLanes(to + j * 4, sum, end - j);
    }
  }
}
