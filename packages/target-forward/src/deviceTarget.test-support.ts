import type { Ops } from "@dflash/ops";
import type { TargetModel } from "./targetModel.ts";

/**
 * A model that shows where it runs: the hidden state of each token is [the GPU that its process may see, 1 where TensorFlow
 * takes memory as it needs it, the process].
 */
export default function deviceTarget(_: unknown, { ops }: { readonly ops: Ops }): TargetModel {
  const { CUDA_VISIBLE_DEVICES: device = "-1", TF_FORCE_GPU_ALLOW_GROWTH: growth } = process.env;
  return {
    layers: 1,
    hiddenSize: 3,
    async forward({ ids }) {
      const state = [Number(device), Number(growth === "true"), process.pid];
      const states = Float32Array.from({ length: 3 * ids.length }, (_value, i) => state[i % 3]!);
      return { features: [ops.upload(states, [ids.length, 3])], last: null };
    },
    dispose: () => undefined,
  };
}
