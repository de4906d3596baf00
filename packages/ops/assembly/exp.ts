/** eˣ in four lanes, right to about one unit in the last place: Cephes' expf (range reduction by ln 2, a polynomial of degree 6). */
export function exp4(argument: v128): v128 {
  const x = f32x4.min(f32x4.max(argument, f32x4.splat(-87.33654)), f32x4.splat(88.3));
  const n = f32x4.nearest(f32x4.mul(x, f32x4.splat(1.44269504)));
  // ln 2 in two parts, so that n·ln 2 is exact where it matters.
  let r = f32x4.sub(x, f32x4.mul(n, f32x4.splat(0.693359375)));
  r = f32x4.sub(r, f32x4.mul(n, f32x4.splat(-2.1219444e-4)));
  let p = f32x4.splat(1.98756915e-4);
  p = f32x4.add(f32x4.mul(p, r), f32x4.splat(1.39819995e-3));
  p = f32x4.add(f32x4.mul(p, r), f32x4.splat(8.33345191e-3));
  p = f32x4.add(f32x4.mul(p, r), f32x4.splat(4.1665796e-2));
  p = f32x4.add(f32x4.mul(p, r), f32x4.splat(1.66666655e-1));
  p = f32x4.add(f32x4.mul(p, r), f32x4.splat(5.00000012e-1));
  p = f32x4.add(f32x4.add(f32x4.mul(p, f32x4.mul(r, r)), r), f32x4.splat(1));
  const exponent = i32x4.add(i32x4.trunc_sat_f32x4_s(n), i32x4.splat(127));
  return f32x4.mul(p, i32x4.shl(exponent, 23));
}

/** 1 / (1 + e⁻ˣ) in four lanes. */
export function sigmoid4(x: v128): v128 {
  const one = f32x4.splat(1);
  return f32x4.div(one, f32x4.add(one, exp4(f32x4.neg(x))));
}

/** ln x of a normal positive number or NaN: Cephes' logf. No lookup table, since static data would land in the host's heap. */
export function log(x: f32): f32 {
  if (x != x) return x;
  const bits = reinterpret<i32>(x);
  let exponent = <f32>((bits >> 23) - 126);
  let m = reinterpret<f32>((bits & 0x007fffff) | 0x3f000000);
  if (m < <f32>0.707106781) {
    exponent -= 1;
    m += m;
  }
  m -= 1;
  const square = m * m;
  let p: f32 = 7.03768363e-2;
  p = p * m - <f32>1.1514610e-1;
  p = p * m + <f32>1.1676999e-1;
  p = p * m - <f32>1.2420141e-1;
  p = p * m + <f32>1.4249323e-1;
  p = p * m - <f32>1.6668058e-1;
  p = p * m + <f32>2.0000715e-1;
  p = p * m - <f32>2.4999994e-1;
  p = p * m + <f32>3.3333331e-1;
  const tail = p * m * square - exponent * <f32>2.1219444e-4 - square * <f32>0.5;
  return m + tail + exponent * <f32>0.693359375;
}
