import { loadLanes, storeLanes, sum4 } from "./lanes";

/** y = x / √(mean(x²) + ε) · weight, row by row. */
export function rmsNorm(
  task: i32, thread: i32, rows: i32, chunk: i32, width: i32, x: usize, weight: usize, epsilon: f32, y: usize, inverseRms: usize,
): void {
  const end = min(rows, (task + 1) * chunk);
  for (let row = task * chunk; row < end; row++) {
    const at = row * width * 4;
    let squares = f32x4.splat(0);
    for (let i = 0; i < width; i += 4) {
      const lanes = loadLanes(x + at + i * 4, width - i);
      squares = f32x4.add(squares, f32x4.mul(lanes, lanes));
    }
    const inverse = <f32>1 / sqrt<f32>(sum4(squares) / <f32>width + epsilon);
    store<f32>(inverseRms + row * 4, inverse);
    for (let i = 0; i < width; i += 4) {
      const left = width - i;
      const normalised = f32x4.mul(loadLanes(x + at + i * 4, left), f32x4.splat(inverse));
      storeLanes(y + at + i * 4, f32x4.mul(normalised, loadLanes(weight + i * 4, left)), left);
    }
  }
}

/** With n = x·r, r = 1/rms: dx = r·(dy·w − n·mean(dy·w·n)). */
export function rmsNormBackward(
  task: i32, thread: i32, rows: i32, chunk: i32, width: i32, x: usize, weight: usize, inverseRms: usize, dy: usize, dx: usize,
): void {
  const end = min(rows, (task + 1) * chunk);
  for (let row = task * chunk; row < end; row++) {
    const at = row * width * 4;
    const r = load<f32>(inverseRms + row * 4);
    let along = f32x4.splat(0);
    for (let i = 0; i < width; i += 4) {
      const left = width - i;
      const slope = f32x4.mul(loadLanes(dy + at + i * 4, left), loadLanes(weight + i * 4, left));
      along = f32x4.add(along, f32x4.mul(slope, loadLanes(x + at + i * 4, left)));
    }
    const mean = (sum4(along) * r * r) / <f32>width;
    for (let i = 0; i < width; i += 4) {
      const left = width - i;
      const slope = f32x4.mul(loadLanes(dy + at + i * 4, left), loadLanes(weight + i * 4, left));
      const drop = f32x4.mul(loadLanes(x + at + i * 4, left), f32x4.splat(mean));
      storeLanes(dx + at + i * 4, f32x4.mul(f32x4.sub(slope, drop), f32x4.splat(r)), left);
    }
  }
}

/** dw = Σ over rows of dy·x·r. */
export function rmsNormWeightBackward(
  task: i32, thread: i32, width: i32, chunk: i32, rows: i32, x: usize, inverseRms: usize, dy: usize, dw: usize,
): void {
  const end = min(width, (task + 1) * chunk);
  for (let column = task * chunk; column < end; column += 4) {
    const left = end - column;
    let sum = f32x4.splat(0);
    for (let row = 0; row < rows; row++) {
      const at = (row * width + column) * 4;
      const normalised = f32x4.mul(loadLanes(x + at, left), v128.load32_splat(inverseRms + row * 4));
      sum = f32x4.add(sum, f32x4.mul(normalised, loadLanes(dy + at, left)));
    }
    storeLanes(dw + column * 4, sum, left);
  }
}

/** Sum over rows: the gradient of a bias. */
export function sumRows(task: i32, thread: i32, width: i32, chunk: i32, rows: i32, x: usize, sums: usize): void {
  const end = min(width, (task + 1) * chunk);
  for (let column = task * chunk; column < end; column += 4) {
    const left = end - column;
    let sum = f32x4.splat(0);
    for (let row = 0; row < rows; row++) sum = f32x4.add(sum, loadLanes(x + (row * width + column) * 4, left));
    storeLanes(sums + column * 4, sum, left);
  }
}
