export type { DType, Tensor } from "./tensor.ts";
export type { AdamWOptions, AdamWState, CrossEntropy, Ops, Recording, RotaryTable } from "./ops.ts";
export type { KernelHandle, Kernels } from "./kernels.ts";
