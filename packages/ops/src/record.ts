import type { KernelHandle } from "./kernels.ts";
import type { OpContext } from "./opContext.ts";
import type { Differentiable, Ops, Recording } from "./ops.ts";
import { createTape } from "./tape.ts";
import type { Tape } from "./tape.ts";
import type { Tensor } from "./tensor.ts";
import { checkShape, formatShape, reject, sizeOf } from "./validate.ts";
import { own, retain, release } from "./value.ts";
import type { Value } from "./value.ts";

/** Automatic differentiation over the ops of `context`. */
export function recordOps<H extends KernelHandle>(context: OpContext<H>): Pick<Ops, "record" | "valueAndGrad"> {
  const { kernels } = context;

  const record = <T extends Differentiable>(parameters: readonly Tensor[], fn: () => T): Recording<T> => {
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
        if ("loss" in returned && returned.loss.shape.length > 0)
          reject("record", "the returned loss", `of shape ${formatShape(returned.loss.shape)}`, "a scalar");
        return returned;
      });
      return recording(outputs, tape, values);
    } catch (error) {
      tape.clear();
      throw error;
    } finally {
      context.tape = null;
    }
  };

  const recording = <T extends Differentiable>(
    outputs: T,
    tape: Tape<H>,
    parameters: readonly Value<H>[],
  ): Recording<T> => {
    const root: Differentiable = outputs;
    const isScalar = "loss" in root;
    const output = retain(context.value("record", "what was returned", isScalar ? root.loss : root.output));
    let ended = false;
    const end = (): void => {
      ended = true;
      tape.clear();
      release(kernels, output);
    };
    const gradientOf = (gradient: Tensor | undefined): Value<H> => {
      if (gradient === undefined) {
        if (isScalar) return own(kernels.upload(Float32Array.of(1), [], false));
        throw new TypeError("backward: gradient is missing, expected that of the recorded output");
      }
      const value = context.value("backward", "gradient", gradient);
      checkShape("backward", "gradient", value.handle, output.handle.shape);
      return retain(value);
    };
    return {
      outputs,
      backward(gradient) {
        if (ended) throw new Error("backward: this recording has been used or disposed; record again");
        try {
          return tape
            .walkBack(output, gradientOf(gradient))
            .map((part, index) => context.tensor(part ?? zerosLike(parameters[index]!)));
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
