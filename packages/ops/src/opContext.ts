import type { Kernels, KernelHandle } from "./kernels.ts";
import type { Scopes } from "./scope.ts";
import type { Backward, Tape } from "./tape.ts";
import type { Tensor } from "./tensor.ts";
import { release, retain } from "./value.ts";
import type { Value } from "./value.ts";

/** What every op works with: from tensors to values, and from results to tensors, recorded where a tape is running. */
export interface OpContext<H extends KernelHandle> {
  readonly kernels: Kernels<H>;
  readonly scopes: Scopes;
  /** The tape that is recording, if any. */
  tape: Tape<H> | null;
  /** The value of an argument; throws when it was disposed or comes from other ops. */
  value(op: string, argument: string, tensor: Tensor): Value<H>;
  /** A tensor of the innermost scope, as the value's holder. */
  tensor(value: Value<H>): Tensor;
  /**
   * The tensor of an op's result. `backward` is called only when the gradient of some input is needed, and told of which;
   * it must not keep the result's own holder.
   */
  result(
    output: Value<H>,
    inputs: readonly (Value<H> | null)[],
    backward: (needs: readonly boolean[]) => Backward<H>,
  ): Tensor;
}

export function createOpContext<H extends KernelHandle>(kernels: Kernels<H>, scopes: Scopes): OpContext<H> {
  const values = new WeakMap<Tensor, Value<H> | null>();

  const valueOf = (op: string, argument: string, tensor: Tensor): Value<H> => {
    const value = values.get(tensor);
    if (value === undefined)
      throw new TypeError(`${op}: ${argument} is no tensor of these ops; upload its values here`);
    if (value === null) {
      throw new Error(`${op}: ${argument} was disposed; return it from its scope or dispose of it later`);
    }
    return value;
  };

  const context: OpContext<H> = {
    kernels,
    scopes,
    tape: null,
    value: valueOf,
    tensor(value) {
      const tensor: Tensor = {
        shape: value.handle.shape,
        dtype: value.handle.dtype === "int32" ? "int32" : "float32",
        async read() {
          const held = retain(valueOf("read", "the tensor", tensor));
          try {
            return await kernels.read(held.handle);
          } finally {
            release(kernels, held);
          }
        },
        dispose() {
          const held = values.get(tensor);
          if (!held) return;
          values.set(tensor, null);
          release(kernels, held);
        },
      };
      values.set(tensor, value);
      scopes.adopt(tensor);
      return tensor;
    },
    result(output, inputs, backward) {
      const { tape } = context;
      if (tape !== null) {
        const needs = inputs.map((input) => input !== null && tape.tracks(input));
        if (needs.includes(true)) tape.add(inputs, output, backward(needs));
      }
      return context.tensor(output);
    },
  };
  return context;
}
