import { sigmoid4 } from "./exp";
import { loadLanes, storeLanes } from "./lanes";

/** y = silu(gate)·up. */
export function swiglu(task: i32, thread: i32, size: i32, chunk: i32, gate: usize, up: usize, y: usize): void {
  const end = min(size, (task + 1) * chunk);
  for (let i = task * chunk; i < end; i += 4) {
    const g = loadLanes(gate + i * 4, end - i);
    storeLanes(y + i * 4, f32x4.mul(f32x4.mul(g, sigmoid4(g)), loadLanes(up + i * 4, end - i)), end - i);
  }
}

/** With s = sigmoid(g): silu'(g) = s + g·s·(1 − s). */
export function swigluBackward(
  task: i32, thread: i32, size: i32, chunk: i32, gate: usize, up: usize, dy: usize, dGate: usize, dUp: usize,
): void {
  const end = min(size, (task + 1) * chunk);
  for (let i = task * chunk; i < end; i += 4) {
    const left = end - i;
    const g = loadLanes(gate + i * 4, left);
    const slope = loadLanes(dy + i * 4, left);
    const s = sigmoid4(g);
    const silu = f32x4.mul(g, s);
    const siluSlope = f32x4.add(s, f32x4.mul(silu, f32x4.sub(f32x4.splat(1), s)));
    storeLanes(dUp + i * 4, f32x4.mul(slope, silu), left);
    storeLanes(dGate + i * 4, f32x4.mul(f32x4.mul(slope, loadLanes(up + i * 4, left)), siluSlope), left);
  }
}

/** y = a + b; y may be a. */
export function add(task: i32, thread: i32, size: i32, chunk: i32, a: usize, b: usize, y: usize): void {
  const end = min(size, (task + 1) * chunk);
  for (let i = task * chunk; i < end; i += 4) {
    storeLanes(y + i * 4, f32x4.add(loadLanes(a + i * 4, end - i), loadLanes(b + i * 4, end - i)), end - i);
  }
}

/** y = x·factor; y may be x. */
export function scale(task: i32, thread: i32, size: i32, chunk: i32, x: usize, factor: f32, y: usize): void {
  const end = min(size, (task + 1) * chunk);
  for (let i = task * chunk; i < end; i += 4) {
    storeLanes(y + i * 4, f32x4.mul(loadLanes(x + i * 4, end - i), f32x4.splat(factor)), end - i);
  }
}

/** Σx² of each chunk, in float64: one value a task. */
export function sumOfSquares(task: i32, thread: i32, size: i32, chunk: i32, x: usize, sums: usize): void {
  const end = min(size, (task + 1) * chunk);
  let low = f64x2.splat(0);
  let high = f64x2.splat(0);
  for (let i = task * chunk; i < end; i += 4) {
    const lanes = loadLanes(x + i * 4, end - i);
    const a = f64x2.promote_low_f32x4(lanes);
    const b = f64x2.promote_low_f32x4(v128.shuffle<f32>(lanes, lanes, 2, 3, 2, 3));
    low = f64x2.add(low, f64x2.mul(a, a));
    high = f64x2.add(high, f64x2.mul(b, b));
  }
  const both = f64x2.add(low, high);
  store<f64>(sums + task * 8, f64x2.extract_lane(both, 0) + f64x2.extract_lane(both, 1));
}

/** AdamW with decoupled decay, in place: `keep` = 1 − lr·decay, `rate` = lr / (1 − β1ᵗ), `rootCorrection` = 1 / √(1 − β2ᵗ). */
export function adamW(
  task: i32, thread: i32, size: i32, chunk: i32, parameter: usize, gradient: usize, mean: usize, variance: usize, beta1: f32,
  beta2: f32, oneMinusBeta1: f32, oneMinusBeta2: f32, epsilon: f32, keep: f32, rate: f32, rootCorrection: f32,
): void {
  const end = min(size, (task + 1) * chunk);
  for (let i = task * chunk; i < end; i += 4) {
    const at = i * 4;
    const left = end - i;
    const g = loadLanes(gradient + at, left);
    const m = f32x4.add(
      f32x4.mul(loadLanes(mean + at, left), f32x4.splat(beta1)),
      f32x4.mul(g, f32x4.splat(oneMinusBeta1)),
    );
    const v = f32x4.add(
      f32x4.mul(loadLanes(variance + at, left), f32x4.splat(beta2)),
      f32x4.mul(f32x4.mul(g, g), f32x4.splat(oneMinusBeta2)),
    );
    const root = f32x4.add(f32x4.mul(f32x4.sqrt(v), f32x4.splat(rootCorrection)), f32x4.splat(epsilon));
    const update = f32x4.mul(f32x4.div(m, root), f32x4.splat(rate));
    storeLanes(mean + at, m, left);
    storeLanes(variance + at, v, left);
    const kept = f32x4.mul(loadLanes(parameter + at, left), f32x4.splat(keep));
    storeLanes(parameter + at, f32x4.sub(kept, update), left);
  }
}
