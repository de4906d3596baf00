import type * as tf from "@tensorflow/tfjs-core";
import type { Kernels } from "../../kernels.ts";

/** Kernels of exponentials: the most work for each value, so that many threads are worth waking first. */
type ExponentialKernels = Pick<Kernels<tf.Tensor>, "swiglu" | "swigluBackward" | "attention" | "attentionBackward">;

/** Values of a gate that one thread takes through them in less time than 16 threads. */
const fewGates = 2 ** 19;

/** Values of queries, of which each has several scores. */
const fewQueries = 2 ** 18;

/** Kernels that compute in the calling thread for small values, and those that all threads share for large ones. */
export function leaveLargeValues(alone: ExponentialKernels, shared: ExponentialKernels): ExponentialKernels {
  const forGates = ({ size }: tf.Tensor) => (size < fewGates ? alone : shared);
  const forQueries = ({ size }: tf.Tensor) => (size < fewQueries ? alone : shared);
  return {
    swiglu: (gate, up) => forGates(gate).swiglu(gate, up),
    swigluBackward: (gate, ...others) => forGates(gate).swigluBackward(gate, ...others),
    attention: (query, ...others) => forQueries(query).attention(query, ...others),
    attentionBackward: (query, ...others) => forQueries(query).attentionBackward(query, ...others),
  };
}
