import type { Engine } from "@dflash/engine";
import * as tf from "@tensorflow/tfjs-core";
import type { Kernels } from "../kernels.ts";

export function storageKernels({ name }: Engine): Pick<Kernels<tf.Tensor>, "upload" | "read" | "dispose" | "reshape"> {
  // WASM copies into its heap. The others may keep the very array, and hand it out again, so that later writes would show.
  const copies = name === "wasm";
  return {
    upload: (data, shape) =>
      tf.tensor(copies ? data : data.slice(), [...shape], data instanceof Int32Array ? "int32" : "float32"),
    async read(x) {
      const data = await (x.dtype === "int32" ? x.data<"int32">() : x.data<"float32">());
      return copies ? data : data.slice();
    },
    dispose: (x) => x.dispose(),
    reshape: (x, shape) => tf.reshape(x, [...shape]),
  };
}
