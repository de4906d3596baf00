import type * as tf from "@tensorflow/tfjs-core";
import type { GpuProgramSource } from "@dflash/engine";
import type { Kernels } from "../kernels.ts";
import { attentionSource, keyGradientSource, queryGradientSource } from "./attentionSources.ts";
import type { GpuKernel, WebgpuContext } from "./webgpuContext.ts";

const numbersOf = (q: tf.Tensor3D, k: tf.Tensor3D, scale: number): number[] => [
  q.shape[0],
  k.shape[0],
  q.shape[1],
  k.shape[1],
  scale,
];

/** Scores exist for 64 keys a query at a time; the forward pass saves a number a query and head. */
export function attentionKernels(context: WebgpuContext): Pick<Kernels<tf.Tensor>, "attention" | "attentionBackward"> {
  const { output, hosted, scratch } = context;
  const forward = bySize(context, attentionSource);
  const queryGradient = bySize(context, queryGradientSource);
  const keyGradient = bySize(context, keyGradientSource);

  return {
    attention(q: tf.Tensor3D, k: tf.Tensor3D, v, { bounds }, scale) {
      const [queries, heads, size] = q.shape;
      const [y, logSums] = [output(q.shape), output([queries, heads])];
      hosted(bounds, (ranges) =>
        forward(size)([q, k, v, ranges, y, logSums], numbersOf(q, k, scale), [queries, heads]),
      );
      return { y, saved: [logSums] };
    },

    attentionBackward(q: tf.Tensor3D, k: tf.Tensor3D, v, y, [logSums], dy, { bounds }, scale) {
      const [queries, heads, size] = q.shape;
      const [keys, groups] = k.shape;
      const numbers = numbersOf(q, k, scale);
      const [dq, dk, dv] = [output(q.shape), output(k.shape), output(k.shape)];
      hosted(bounds, (ranges) =>
        scratch(queries * heads, (alongs) => {
          queryGradient(size)([q, k, v, ranges, y, logSums!, dy, dq, alongs], numbers, [queries, heads]);
          keyGradient(size)([q, k, v, ranges, logSums!, dy, alongs, dk, dv], numbers, [keys, groups]);
        }),
      );
      return { dq, dk, dv };
    },
  };
}

/** A kernel for each size of heads, made when it is first wanted. */
function bySize({ kernel }: WebgpuContext, source: (size: number) => GpuProgramSource): (size: number) => GpuKernel {
  const kernels = new Map<number, GpuKernel>();
  return (size) => {
    let found = kernels.get(size);
    if (found === undefined) kernels.set(size, (found = kernel(source(size))));
    return found;
  };
}
