import type { Ops } from "./ops.ts";
import type { Tensor } from "./tensor.ts";

/** A product that takes this long is not measured by its dispatch. */
const longEnoughMs = 10;
const largestSize = 8192;

/**
 * Floating-point operations a second that the engine reaches in square products of float32 matrices: the best of three,
 * of the first power-of-two size that takes 10 ms. What a model's own rate is held against.
 */
export async function measurePeakFlops(ops: Ops): Promise<number> {
  for (let size = 128; ; size *= 2) {
    const matrix = ops.upload(new Float32Array(size * size).fill(1), [size, size]);
    try {
      const times: number[] = [];
      for (let i = 0; i < 3; i++) times.push(await productMs(ops, matrix));
      const ms = Math.min(...times);
      if (ms >= longEnoughMs || size === largestSize) return (2000 * size ** 3) / ms;
    } finally {
      matrix.dispose();
    }
  }
}

async function productMs(ops: Ops, matrix: Tensor): Promise<number> {
  const start = performance.now();
  // Reading one row waits for the whole product.
  const row = ops.scope(() => ops.slice(ops.linear(matrix, matrix), 0, 1));
  await row.read();
  row.dispose();
  return performance.now() - start;
}
