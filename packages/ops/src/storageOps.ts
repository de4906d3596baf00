import type { KernelHandle } from "./kernels.ts";
import type { OpContext } from "./opContext.ts";
import type { Ops } from "./ops.ts";
import { formatShape, reject, sizeOf } from "./validate.ts";
import { own } from "./value.ts";

/** Tensors from host values. */
export function storageOps<H extends KernelHandle>(context: OpContext<H>): Pick<Ops, "upload" | "zeros"> {
  return {
    upload(data, shape, { frozen = false } = {}) {
      if (data.length !== sizeOf(shape))
        reject("upload", "data.length", data.length, `the ${sizeOf(shape)} values of shape ${formatShape(shape)}`);
      return context.tensor(own(context.kernels.upload(data, shape, frozen)));
    },
    zeros(shape, dtype = "float32") {
      const data = dtype === "int32" ? new Int32Array(sizeOf(shape)) : new Float32Array(sizeOf(shape));
      return context.tensor(own(context.kernels.upload(data, shape, false)));
    },
  };
}
