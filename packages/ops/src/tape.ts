import type { KernelHandle, Kernels } from "./kernels.ts";
import { isExclusive, own, release, retain } from "./value.ts";
import type { Value } from "./value.ts";

/** How an op hands gradients back, and what it must hold until then. */
export interface Backward<H extends KernelHandle> {
  /** Values that `gradients` reads; the tape holds them until then. */
  readonly holds: readonly Value<H>[];
  /** Gradients of the op's inputs from the gradient of its output, each with one holder for the tape; null where none is needed. */
  gradients(dy: Value<H>): readonly (Value<H> | null)[];
}

interface Entry<H extends KernelHandle> extends Backward<H> {
  readonly inputs: readonly (Value<H> | null)[];
  readonly output: Value<H>;
}

/** Records the ops that depend on the parameters, in order, and walks them back once. */
export interface Tape<H extends KernelHandle> {
  /** Whether the value is a parameter or depends on one. */
  tracks(value: Value<H>): boolean;
  add(inputs: readonly (Value<H> | null)[], output: Value<H>, backward: Backward<H>): void;
  /**
   * One gradient a parameter, of its shape, memory of its own; null where `output` does not depend on it. Takes over a holder
   * of the output's gradient and leaves the tape empty.
   */
  walkBack(output: Value<H>, gradient: Value<H>): (Value<H> | null)[];
  /** Frees what is held. */
  clear(): void;
}

export function createTape<H extends KernelHandle>(kernels: Kernels<H>, parameters: readonly Value<H>[]): Tape<H> {
  const tracked = new Set(parameters);
  const entries: Entry<H>[] = [];
  const drop = (value: Value<H>): void => release(kernels, value);

  return {
    tracks: (value) => tracked.has(value),
    add(inputs, output, backward) {
      tracked.add(output);
      backward.holds.forEach(retain);
      entries.push({ inputs, output, ...backward });
    },
    walkBack(output, outputGradient) {
      const gradients = new Map([[output, outputGradient]]);
      try {
        for (let entry = entries.pop(); entry !== undefined; entry = entries.pop()) stepBack(entry, gradients);
        return parameters.map((parameter) => {
          const gradient = gradients.get(parameter);
          gradients.delete(parameter);
          return gradient === undefined ? null : unshare(gradient);
        });
      } finally {
        gradients.forEach(drop);
        clear();
      }
    },
    clear,
  };

  function clear(): void {
    for (const entry of entries.splice(0)) entry.holds.forEach(drop);
  }

  function stepBack({ inputs, output, holds, ...entry }: Entry<H>, gradients: Map<Value<H>, Value<H>>): void {
    const dy = gradients.get(output);
    gradients.delete(output);
    let parts: readonly (Value<H> | null)[];
    try {
      parts = dy === undefined ? [] : entry.gradients(dy);
    } finally {
      if (dy !== undefined) drop(dy);
      holds.forEach(drop);
    }
    parts.forEach((gradient, index) => {
      const input = inputs[index];
      if (gradient === null) return;
      if (input && tracked.has(input)) accumulate(gradients, input, gradient);
      else drop(gradient);
    });
  }

  /** Adds `gradient` to what `value` has so far, and takes over its holder. */
  function accumulate(gradients: Map<Value<H>, Value<H>>, value: Value<H>, gradient: Value<H>): void {
    const sum = gradients.get(value);
    if (sum === undefined) {
      gradients.set(value, gradient);
    } else if (isExclusive(sum)) {
      kernels.addInPlace(sum.handle, gradient.handle);
      drop(gradient);
    } else {
      gradients.set(value, own(kernels.add(sum.handle, gradient.handle)));
      drop(sum);
      drop(gradient);
    }
  }

  /** Whoever gets a gradient may scale it in place, so no two may share memory. */
  function unshare(gradient: Value<H>): Value<H> {
    if (isExclusive(gradient)) return gradient;
    const copy = own(kernels.scale(gradient.handle, 1));
    drop(gradient);
    return copy;
  }
}
