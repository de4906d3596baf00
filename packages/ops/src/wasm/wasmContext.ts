import type { WasmHeap } from "@dflash/engine";
import * as tf from "@tensorflow/tfjs-core";
import { moduleBytes } from "./moduleBytes.ts";

/** What the fused kernels compute with. */
export interface WasmContext {
  readonly heap: WasmHeap;
  /** A new tensor whose values are undefined. */
  readonly output: (shape: readonly number[], dtype?: "float32" | "int32") => tf.Tensor;
  /** A new tensor of zeros. */
  readonly zeros: (shape: readonly number[]) => tf.Tensor;
  /** Where a tensor's values lie. */
  readonly at: (tensor: tf.Tensor) => number;
  /** Runs a kernel over `count` things, `chunk` of them a task. */
  readonly each: (name: string, count: number, chunk: number, ...values: number[]) => void;
  /** Runs a kernel over `count` tasks. */
  readonly tasks: (name: string, count: number, ...values: number[]) => void;
  readonly multiply: (product: Product) => void;
  /** For kernels that multiply inside: scratch for each thread. */
  readonly productScratch: number;
  /** Runs `fn` with scratch memory of that many bytes, freed at its end. */
  readonly scratch: <T>(bytes: number, fn: (address: number) => T) => T;
  /** Runs `fn` with host values copied to scratch memory. */
  readonly copied: <T>(values: Int32Array | Float32Array, fn: (address: number) => T) => T;
}

/** A matrix in the heap: byte address, and the bytes between rows and between columns. */
export interface Matrix {
  at: number;
  row: number;
  column: number;
}

/** c [m × n] = a [m × k] · b [k × n], or added to c; the rows of c are contiguous. */
export interface Product {
  m: number;
  n: number;
  k: number;
  a: Matrix;
  b: Matrix;
  c: number;
  add?: boolean;
}

/** A row-major matrix of `columns` float32. */
export const rowMajor = (at: number, columns: number): Matrix => ({ at, row: 4 * columns, column: 4 });

export const transposed = ({ at, row, column }: Matrix): Matrix => ({ at, row: column, column: row });

export function createWasmContext(heap: WasmHeap): WasmContext {
  const { run, exports } = heap.load(moduleBytes);
  const { multiplyTasks, gemmScratchBytes } = exports;
  if (!multiplyTasks || !gemmScratchBytes) throw new Error("ops: moduleBytes.ts is not what assembly/build.mjs writes");
  const productScratch = heap.allocate(heap.threads * gemmScratchBytes());

  const output: WasmContext["output"] = (shape, dtype = "float32") =>
    tf.engine().makeTensorFromTensorInfo(heap.output(shape, dtype));
  const scratch: WasmContext["scratch"] = (bytes, fn) => {
    const address = heap.allocate(bytes);
    try {
      return fn(address);
    } finally {
      heap.free(address);
    }
  };
  return {
    heap,
    output,
    zeros(shape) {
      const x = output(shape);
      heap.floats(heap.address(x), x.size).fill(0);
      return x;
    },
    at: heap.address,
    each: (name, count, chunk, ...values) => run(name, Math.ceil(count / chunk), [count, chunk, ...values]),
    tasks: (name, count, ...values) => run(name, count, values),
    multiply({ m, n, k, a, b, c, add = false }) {
      const values = [m, n, k, a.at, a.row, a.column, b.at, b.row, b.column, c, 4 * n, Number(add), productScratch];
      run("multiply", multiplyTasks(m, n), values);
    },
    productScratch,
    scratch,
    copied: (values, fn) =>
      scratch(values.byteLength, (address) => {
        const view = values instanceof Int32Array ? heap.ints : heap.floats;
        view(address, values.length).set(values);
        return fn(address);
      }),
  };
}
