import type { Ops, Tensor } from "@dflash/ops";
import { bfloat16ToFloat32 } from "@dflash/safetensors";
import type { HiddenStates } from "./hiddenStates.ts";
import type { CaptureOptions } from "./targetModel.ts";
import type { TokenBatch } from "./tokenBatch.ts";

/** A matrix in host memory: float32 values, or bfloat16 bits. */
export interface HostMatrix {
  /** Row-major float32, or raw bits of bfloat16. */
  readonly values: Float32Array | Uint16Array;
  /** Columns; rows are the batch's tokens. */
  readonly width: number;
}

/** Hidden states in host memory, on their way from another thread or from a file. */
export interface HostHiddenStates {
  /** The rows that they are of: those of the batch that was asked for, less what could not be had. */
  readonly batch: TokenBatch;
  /** One matrix, the joined features; or one a captured layer. */
  readonly features: readonly HostMatrix[];
  /** The last layer's output before the final norm, or null when not asked for. */
  readonly last: HostMatrix | null;
}

/** Where hidden states come from when this thread's engine does not compute them: other threads, or files. */
export interface HiddenStateSource {
  /**
   * The hidden states of a batch. Several calls may be under way, and may settle in any order.
   *
   * @returns null when none of the batch's rows can be had: it is passed over.
   */
  states(batch: TokenBatch, options: CaptureOptions): Promise<HostHiddenStates | null>;
}

/** Bytes that all matrices hold. */
export function hostBytes({ features, last }: HostHiddenStates): number {
  return [...features, ...(last ? [last] : [])].reduce((sum, { values }) => sum + values.byteLength, 0);
}

/** The buffers that the matrices lie in, to be moved to another thread. */
export function hostBuffers({ features, last }: Pick<HostHiddenStates, "features" | "last">): ArrayBuffer[] {
  const buffers = [...features, ...(last ? [last] : [])].map(({ values }) => values.buffer);
  return [...new Set(buffers)].filter((buffer) => buffer instanceof ArrayBuffer);
}

/** Copies hidden states to the engine: one tensor a matrix. */
export function uploadHiddenStates(
  ops: Ops,
  { batch, features, last }: HostHiddenStates,
): HiddenStates<readonly Tensor[]> {
  const upload = ({ values, width }: HostMatrix): Tensor =>
    ops.upload(values instanceof Uint16Array ? bfloat16ToFloat32(values) : values, [values.length / width, width]);
  const tensors: Tensor[] = [];
  try {
    for (const matrix of features) tensors.push(upload(matrix));
    const uploaded = tensors.slice();
    const lastTensor = last && upload(last);
    if (lastTensor) tensors.push(lastTensor);
    return {
      ...batch,
      features: uploaded,
      last: lastTensor,
      dispose: () => tensors.forEach((tensor) => tensor.dispose()),
    };
  } catch (error) {
    for (const tensor of tensors) tensor.dispose();
    throw error;
  }
}
