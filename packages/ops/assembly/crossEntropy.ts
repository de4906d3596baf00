import { exp4, log } from "./exp";
import { loadLanes, max4, storeLanes, sum4 } from "./lanes";

/**
 * Cross-entropy of rows of logits against labels, and the index of each row's largest logit. Logits become their
 * gradient, weight·(softmax − onehot), when `gradients` is set; else their values are used up. A row of weight 0 has loss 0.
 */
export function crossEntropy(
  task: i32, thread: i32, rows: i32, chunk: i32, vocabulary: i32, logits: usize, labels: usize, weights: usize, losses: usize,
  predictions: usize, gradients: bool,
): void {
  const end = min(rows, (task + 1) * chunk);
  for (let row = task * chunk; row < end; row++) {
    const z = logits + row * vocabulary * 4;
    const weight = load<f32>(weights + row * 4);
    const largest = rowMax(z, vocabulary);
    store<i32>(predictions + row * 4, indexOf(z, vocabulary, largest));
    if (weight == 0) {
      store<f32>(losses + row * 4, 0);
      if (gradients) memory.fill(z, 0, vocabulary * 4);
      continue;
    }
    const label = z + load<i32>(labels + row * 4) * 4;
    const target = load<f32>(label);
    const sum = exponentials(z, vocabulary, largest);
    store<f32>(losses + row * 4, largest - target + log(sum));
    if (!gradients) continue;
    const factor = f32x4.splat(weight / sum);
    for (let i = 0; i < vocabulary; i += 4) {
      storeLanes(z + i * 4, f32x4.mul(loadLanes(z + i * 4, vocabulary - i), factor), vocabulary - i);
    }
    store<f32>(label, load<f32>(label) - weight);
  }
}

/** Index of each row's largest value, the first of several. */
export function argmax(task: i32, thread: i32, rows: i32, chunk: i32, width: i32, x: usize, indices: usize): void {
  const end = min(rows, (task + 1) * chunk);
  for (let row = task * chunk; row < end; row++) {
    const at = x + row * width * 4;
    store<i32>(indices + row * 4, indexOf(at, width, rowMax(at, width)));
  }
}

function rowMax(x: usize, n: i32): f32 {
  let lanes = f32x4.splat(-Infinity);
  let i = 0;
  for (; i + 4 <= n; i += 4) lanes = f32x4.max(lanes, v128.load(x + i * 4));
  let largest = max4(lanes);
  for (; i < n; i++) largest = max(largest, load<f32>(x + i * 4));
  return largest;
}

/** The first index that holds `value`; 0 for NaN, which equals nothing. */
function indexOf(x: usize, n: i32, value: f32): i32 {
  let i = 0;
  while (i + 4 <= n && !v128.any_true(f32x4.eq(v128.load(x + i * 4), f32x4.splat(value)))) i += 4;
  while (i < n && load<f32>(x + i * 4) != value) i++;
  return i < n ? i : 0;
}

/** x to exp(x − shift); returns their sum. */
function exponentials(x: usize, n: i32, shift: f32): f32 {
  let sum = f32x4.splat(0);
  for (let i = 0; i < n; i += 4) {
    const left = n - i;
    storeLanes(x + i * 4, exp4(f32x4.sub(loadLanes(x + i * 4, left), f32x4.splat(shift))), left);
    sum = f32x4.add(sum, loadLanes(x + i * 4, left));
  }
  return sum4(sum);
}
