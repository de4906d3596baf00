/** Up to four floats from `at`; lanes past `left` are 0. Never reads past the end of an array. */
export function loadLanes(at: usize, left: i32): v128 {
  if (left >= 4) return v128.load(at);
  let lanes = v128.load32_zero(at);
  if (left > 1) lanes = v128.load_lane<f32>(at + 4, lanes, 1);
  if (left > 2) lanes = v128.load_lane<f32>(at + 8, lanes, 2);
  return lanes;
}

/** Stores up to four floats, of which `left` are still inside the array. */
export function storeLanes(at: usize, lanes: v128, left: i32): void {
  if (left >= 4) {
    v128.store(at, lanes);
    return;
  }
  v128.store_lane<f32>(at, lanes, 0);
  if (left > 1) v128.store_lane<f32>(at + 4, lanes, 1);
  if (left > 2) v128.store_lane<f32>(at + 8, lanes, 2);
}

/** Sum of the four lanes, always in the same order. */
export function sum4(lanes: v128): f32 {
  return (
    f32x4.extract_lane(lanes, 0) +
    f32x4.extract_lane(lanes, 1) +
    (f32x4.extract_lane(lanes, 2) + f32x4.extract_lane(lanes, 3))
  );
}

/** Largest of the four lanes; NaN when one is. */
export function max4(lanes: v128): f32 {
  return max(
    max(f32x4.extract_lane(lanes, 0), f32x4.extract_lane(lanes, 1)),
    max(f32x4.extract_lane(lanes, 2), f32x4.extract_lane(lanes, 3)),
  );
}

/** a·b + c in four lanes; rounded once where the engine has relaxed SIMD and the processor such an instruction. */
export function multiplyAdd(a: v128, b: v128, c: v128): v128 {
  if (ASC_FEATURE_RELAXED_SIMD) return f32x4.relaxed_madd(a, b, c);
  return f32x4.add(f32x4.mul(a, b), c);
}
