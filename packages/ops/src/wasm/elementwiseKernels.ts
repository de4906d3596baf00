import type * as tf from "@tensorflow/tfjs-core";
import type { Kernels } from "../kernels.ts";
import type { WasmContext } from "./wasmContext.ts";

type ElementwiseKernels = Pick<
  Kernels<tf.Tensor>,
  "swiglu" | "swigluBackward" | "add" | "scale" | "scaleBy" | "sumOfSquares" | "adamW" | "scaleInPlace" | "addInPlace"
>;

/** Values a task takes. */
const chunk = 16_384;

/** Kernels that take each value by itself; those named so, and adamW, change their first arguments in place. */
export function elementwiseKernels({ heap, at, output, each, scratch }: WasmContext): ElementwiseKernels {
  const scaled = (x: tf.Tensor, factor: number): tf.Tensor => {
    const y = output(x.shape);
    each("scale", x.size, chunk, at(x), factor, at(y));
    return y;
  };
  return {
    swiglu(gate, up) {
      const y = output(gate.shape);
      each("swiglu", gate.size, chunk, at(gate), at(up), at(y));
      return { y, saved: [] };
    },
    swigluBackward(gate, up, _saved, dy) {
      const [dGate, dUp] = [output(gate.shape), output(gate.shape)];
      each("swigluBackward", gate.size, chunk, at(gate), at(up), at(dy), at(dGate), at(dUp));
      return { dGate, dUp };
    },
    add(a, b) {
      const y = output(a.shape);
      each("add", a.size, chunk, at(a), at(b), at(y));
      return y;
    },
    scale: scaled,
    scaleBy: (x, factor) => scaled(x, heap.floats(at(factor), 1)[0]!),
    sumOfSquares(x) {
      const y = output([]);
      const parts = Math.ceil(x.size / chunk);
      scratch(parts * 8, (sums) => {
        each("sumOfSquares", x.size, chunk, at(x), sums);
        let total = 0;
        for (const part of heap.doubles(sums, parts)) total += part;
        heap.floats(at(y), 1)[0] = total;
      });
      return y;
    },
    adamW(parameter, gradient, mean, variance, { learningRate, beta1, beta2, epsilon, weightDecay, step }) {
      const places = [parameter, gradient, mean, variance].map(at);
      const keep = 1 - learningRate * weightDecay;
      const rate = learningRate / (1 - beta1 ** step);
      const rootCorrection = 1 / Math.sqrt(1 - beta2 ** step);
      const factors = [beta1, beta2, 1 - beta1, 1 - beta2, epsilon, keep, rate, rootCorrection];
      each("adamW", parameter.size, chunk, ...places, ...factors);
      for (const changed of [parameter, mean, variance]) heap.refresh(changed);
    },
    scaleInPlace(x, factor) {
      each("scale", x.size, chunk, at(x), factor, at(x));
      heap.refresh(x);
    },
    addInPlace(a, b) {
      each("add", a.size, chunk, at(a), at(b), at(a));
      heap.refresh(a);
    },
  };
}
