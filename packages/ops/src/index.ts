export { createOps } from "./createOps.ts";
export type { CreateOpsOptions } from "./createOps.ts";
export type { KernelHandle, Kernels } from "./kernels.ts";
export {
  createKeyValueCache,
  type CachedSequence,
  type CachePlaces,
  type KeysValues,
  type KeyValueCache,
  type KeyValueCacheOptions,
} from "./keyValueCache.ts";
export { measurePeakFlops } from "./measurePeakFlops.ts";
export type { AdamWOptions, AdamWState, CrossEntropy, Differentiable, Ops, Recording, RotaryTable } from "./ops.ts";
export { createRotaryTables, type RotaryTables, type RotaryTablesOptions, rotaryWavelengths } from "./rotaryTables.ts";
export type { DType, Tensor } from "./tensor.ts";
