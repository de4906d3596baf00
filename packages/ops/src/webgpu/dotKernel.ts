import { eachRow, reductions, type GpuKernel, type WebgpuContext } from "./webgpuContext.ts";

const threads = 256;

/** Sums of the products of `count` values x and z, as many parts y of it as there are workgroups, `rows`. */
export const dotKernel = ({ kernel }: WebgpuContext): GpuKernel =>
  kernel({
    name: "products added up",
    arrays: { x: "f32", z: "f32", y: "write f32" },
    numbers: { rows: "u32", count: "u32" },
    code:
      reductions(threads) +
      eachRow(
        threads,
        `var sum = 0.0;
        for (var c = row * ${threads}u + thread; c < a.count; c += a.rows * ${threads}u) { sum += x[c] * z[c]; }
        let all = total(sum, thread);
        if (thread == 0u) { y[row] = all; }`,
      ),
  });
