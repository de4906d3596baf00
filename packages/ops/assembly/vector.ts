import { exp4 } from "./exp";
import { loadLanes, max4, storeLanes, sum4 } from "./lanes";

/** x·factor, in place. */
export function multiplyBy(x: usize, n: i32, factor: f32): void {
  for (let i = 0; i < n; i += 4) {
    storeLanes(x + i * 4, f32x4.mul(loadLanes(x + i * 4, n - i), f32x4.splat(factor)), n - i);
  }
}

export function dot(a: usize, b: usize, n: i32): f32 {
  let sum = f32x4.splat(0);
  for (let i = 0; i < n; i += 4) {
    sum = f32x4.add(sum, f32x4.mul(loadLanes(a + i * 4, n - i), loadLanes(b + i * 4, n - i)));
  }
  return sum4(sum);
}

/** Largest value; −Infinity of none, NaN when one is. */
export function largest(x: usize, n: i32): f32 {
  let lanes = f32x4.splat(-Infinity);
  let i = 0;
  for (; i + 4 <= n; i += 4) lanes = f32x4.max(lanes, v128.load(x + i * 4));
  let most = max4(lanes);
  for (; i < n; i++) most = max(most, load<f32>(x + i * 4));
  return most;
}

/** The first index that holds `value`; 0 for NaN, which equals nothing. */
export function indexOf(x: usize, n: i32, value: f32): i32 {
  let i = 0;
  while (i + 4 <= n && !v128.any_true(f32x4.eq(v128.load(x + i * 4), f32x4.splat(value)))) i += 4;
  while (i < n && load<f32>(x + i * 4) != value) i++;
  return i < n ? i : 0;
}

/** x to exp(x − shift), in place; returns their sum. */
export function exponentials(x: usize, n: i32, shift: f32): f32 {
  let sum = f32x4.splat(0);
  for (let i = 0; i < n; i += 4) {
    const left = n - i;
    storeLanes(x + i * 4, exp4(f32x4.sub(loadLanes(x + i * 4, left), f32x4.splat(shift))), left);
    // Read back, so that lanes past the end count as 0.
    sum = f32x4.add(sum, loadLanes(x + i * 4, left));
  }
  return sum4(sum);
}
