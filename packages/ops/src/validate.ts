import type { KernelHandle } from "./kernels.ts";

/** Throws a RangeError of one line: the op, its argument, what came and what was expected. */
export function reject(op: string, argument: string, got: unknown, expected: string): never {
  throw new RangeError(`${op}: ${argument} is ${String(got)}, expected ${expected}`);
}

export const formatShape = (shape: readonly number[]): string => `[${shape.join(", ")}]`;

/**
 * Checks the shape and the element type of an argument. `expected` gives each axis an extent, or the letter it is known
 * by where every extent is right.
 */
export function checkShape(
  op: string,
  argument: string,
  { shape, dtype }: KernelHandle,
  expected: readonly (number | string)[],
  type = "float32",
): void {
  const matches =
    shape.length === expected.length &&
    expected.every((length, axis) => typeof length === "string" || length === shape[axis]);
  if (!matches) reject(op, argument, formatShape(shape), `[${expected.join(", ")}]`);
  if (dtype !== type) reject(op, argument, dtype, type);
}

/** Checks the element type of an argument of any shape. */
export function checkFloat32(op: string, argument: string, { dtype }: KernelHandle): void {
  if (dtype !== "float32") reject(op, argument, dtype, "float32");
}

/** Checks that there are `length` indices, all below `below`. */
export function checkIndices(op: string, argument: string, indices: Int32Array, length: number, below: number): void {
  if (!(indices instanceof Int32Array)) reject(op, argument, typeof indices, "an Int32Array");
  if (indices.length !== length) reject(op, `${argument}.length`, indices.length, String(length));
  for (let i = 0; i < length; i++) {
    const index = indices[i]!;
    if (index < 0 || index >= below) reject(op, `${argument}[${i}]`, index, `0 ≤ index < ${below}`);
  }
}

/** The extent of an axis that {@link checkShape} has let through. */
export function extent({ shape }: KernelHandle, axis: number): number {
  return shape.at(axis) ?? 1;
}

export const sizeOf = (shape: readonly number[]): number => shape.reduce((size, length) => size * length, 1);
