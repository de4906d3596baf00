import type { KernelHandle } from "./kernels.ts";
import type { OpContext } from "./opContext.ts";
import type { Ops, Recording } from "./ops.ts";
import { createTape } from "./tape.ts";
import type { Tape } from "./tape.ts";
import type { Tensor } from "./tensor.ts";
import { formatShape, reject, sizeOf } from "./validate.ts";
import { own, retain, release } from "./value.ts";
import type { Value } from "./value.ts";

/** Automatic differentiation over the ops of `context`. */
export function recordOps<H extends KernelHandle>(context: OpContext<H>): Pick<Ops, "record" | "valueAndGrad"> {
  const { kernels } = context;

  const record = <T extends { readonly loss: Tensor }>(parameters: readonly Tensor[], fn: () => T): Recording<T> => {
    if (context.tape !== null) throw new Error("record: another recording is running; let its function return first");
    const values = parameters.map((parameter, index) => {
      const value = context.value("record", `parameters[${index}]`, parameter);
      const first = parameters.indexOf(parameter);
      if (first !== index)
        reject("record", `parameters[${index}]`, `parameters[${first}] again`, "each parameter once");
      return value;
    });
    const tape = createTape(kernels, values);
    context.tape = tape;
    try {
      const outputs = context.scopes.run(() => {
        const returned = fn();
        const { shape } = returned.loss;
        if (shape.length > 0) reject("record", "the returned loss", `of shape ${formatShape(shape)}`, "a scalar");
        return returned;
      });
      return recording(outputs, tape, values, retain(context.value("record", "the returned loss", outputs.loss)));
    } catch (error) {
      tape.clear();
      throw error;
    } finally {
      context.tape = null;
    }
  };

  const recording = <T>(outputs: T, tape: Tape<H>, parameters: readonly Value<H>[], loss: Value<H>): Recording<T> => {
    let ended = false;
    const end = (): void => {
      ended = true;
      tape.clear();
      release(kernels, loss);
    };
    return {
      outputs,
      backward() {
        if (ended) throw new Error("backward: this recording has been used or disposed; record again");
        try {
          const one = kernels.upload(Float32Array.of(1), [], false);
          return tape
            .walkBack(loss, one)
            .map((gradient, index) => context.tensor(gradient ?? zerosLike(parameters[index]!)));
        } finally {
          end();
        }
      },
      dispose() {
        if (!ended) end();
      },
    };
  };

  const zerosLike = ({ handle }: Value<H>): Value<H> =>
    own(kernels.upload(new Float32Array(sizeOf(handle.shape)), handle.shape, false));

  return {
    record,
    valueAndGrad(parameters, fn) {
      const recorded = record(parameters, fn);
      return { outputs: recorded.outputs, gradients: recorded.backward() };
    },
  };
}
