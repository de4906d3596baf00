import { exp4, log } from "./exp";
import { loadLanes, storeLanes, sum4 } from "./lanes";
import { indexOf, largest } from "./vector";

/**
 * KL(p ‖ q) of rows, p from `taught` logits and q from `logits`, and the index of each row's largest logit. Logits become
 * their gradient, weight·(q − p); the values of `taught` are used up. A row of weight 0 has loss 0.
 */
export function distillation(
  task: i32, thread: i32, rows: i32, chunk: i32, vocabulary: i32, logits: usize, taught: usize, weights: usize,
  losses: usize, predictions: usize,
): void {
  const end = min(rows, (task + 1) * chunk);
  for (let row = task * chunk; row < end; row++) {
    const q = logits + row * vocabulary * 4;
    const most = largest(q, vocabulary);
    store<i32>(predictions + row * 4, indexOf(q, vocabulary, most));
    const weight = load<f32>(weights + row * 4);
    if (weight == 0) {
      store<f32>(losses + row * 4, 0);
      memory.fill(q, 0, vocabulary * 4);
      continue;
    }
    const p = taught + row * vocabulary * 4;
    store<f32>(losses + row * 4, divergence(q, p, vocabulary, most, largest(p, vocabulary), weight));
  }
}

/** KL of one row; logits q become weight·(softmax(q) − softmax(p)). The shifts are the largest logits. */
function divergence(q: usize, p: usize, n: i32, qShift: f32, pShift: f32, weight: f32): f32 {
  let qSums = f32x4.splat(0);
  let pSums = f32x4.splat(0);
  let gaps = f32x4.splat(0);
  for (let i = 0; i < n; i += 4) {
    const left = n - i;
    const own = f32x4.sub(loadLanes(q + i * 4, left), f32x4.splat(qShift));
    const other = f32x4.sub(loadLanes(p + i * 4, left), f32x4.splat(pShift));
    storeLanes(q + i * 4, exp4(own), left);
    storeLanes(p + i * 4, exp4(other), left);
    // Read back, so that lanes past the end count as 0.
    const exponentials = loadLanes(p + i * 4, left);
    qSums = f32x4.add(qSums, loadLanes(q + i * 4, left));
    pSums = f32x4.add(pSums, exponentials);
    gaps = f32x4.add(gaps, f32x4.mul(exponentials, f32x4.sub(other, own)));
  }
  const qSum = sum4(qSums);
  const pSum = sum4(pSums);
  const qScale = f32x4.splat(weight / qSum);
  const pScale = f32x4.splat(weight / pSum);
  for (let i = 0; i < n; i += 4) {
    const left = n - i;
    const shares = f32x4.mul(loadLanes(q + i * 4, left), qScale);
    storeLanes(q + i * 4, f32x4.sub(shares, f32x4.mul(loadLanes(p + i * 4, left), pScale)), left);
  }
  return sum4(gaps) / pSum - log(pSum) + log(qSum);
}
