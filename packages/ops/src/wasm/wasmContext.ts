import type { WasmHeap } from "@dflash/engine";
import * as tf from "@tensorflow/tfjs-core";
import { plainModule, relaxedModule } from "./moduleBytes.ts";

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
  /** Scratch that a kernel needs to multiply inside, in one thread. */
  readonly productBytes: (m: number, n: number, k: number) => number;
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
  c: Matrix;
  add?: boolean;
}

/** A row-major matrix of `columns` float32. */
export const rowMajor = (at: number, columns: number): Matrix => ({ at, row: 4 * columns, column: 4 });

export const transposed = ({ at, row, column }: Matrix): Matrix => ({ at, row: column, column: row });

/** Bytes of packed operands above which a product is computed in parts. */
const mostPacked = 2 ** 26;

export function createWasmContext(heap: WasmHeap): WasmContext {
  const { run, exports } = heap.load([relaxedModule, plainModule]);
  const { multiplyTasks, packParts, productBytes } = exports;
  if (!multiplyTasks || !packParts || !productBytes) {
    throw new Error("ops: moduleBytes.ts is not what assembly/build.mjs writes");
  }

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

  const each: WasmContext["each"] = (name, count, chunk, ...values) =>
    run(name, Math.ceil(count / chunk), [count, chunk, ...values]);

  const multiply: WasmContext["multiply"] = (product) => {
    const { m, n, k, a, b, c, add = false } = product;
    if (4 * k * (m + n) > mostPacked && Math.max(m, n, k) > 1) {
      for (const part of halves(product)) multiply(part);
      return;
    }
    scratch(productBytes(m, n, k, heap.threads), (packed) => {
      const operands = [m, n, k, a.at, a.row, a.column, b.at, b.row, b.column, packed, heap.threads];
      each("pack", packParts(m, n), Math.ceil(512 / (k + 1)), ...operands);
      run("multiply", multiplyTasks(m, n), [m, n, k, c.at, c.row, Number(add), packed, heap.threads]);
    });
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
    each,
    tasks: (name, count, ...values) => run(name, count, values),
    multiply,
    productBytes: (m, n, k) => productBytes(m, n, k, 1),
    scratch,
    copied: (values, fn) =>
      scratch(values.byteLength, (address) => {
        const view = values instanceof Int32Array ? heap.ints : heap.floats;
        view(address, values.length).set(values);
        return fn(address);
      }),
  };
}

/** A product as two, along its longest axis. */
function halves(product: Product): [Product, Product] {
  const { m, n, k, a, b, c } = product;
  const longest = Math.max(m, n, k);
  const half = longest >> 1;
  const rest = longest - half;
  if (m === longest) {
    const under = { ...product, a: { ...a, at: a.at + half * a.row }, c: { ...c, at: c.at + half * c.row }, m: rest };
    return [{ ...product, m: half }, under];
  }
  if (n === longest) {
    const beside = {
      ...product,
      b: { ...b, at: b.at + half * b.column },
      c: { ...c, at: c.at + half * c.column },
      n: rest,
    };
    return [{ ...product, n: half }, beside];
  }
  const onto = {
    ...product,
    a: { ...a, at: a.at + half * a.column },
    b: { ...b, at: b.at + half * b.row },
    k: rest,
    add: true,
  };
  return [{ ...product, k: half }, onto];
}
