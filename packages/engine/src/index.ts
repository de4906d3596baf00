export type { Engine, EngineCounters, EngineMemory, EngineName } from "./engine.ts";
export type { HeapOutput, HeapValues, WasmHeap, WasmProgram } from "./wasmHeap.ts";
export type { DeviceTensor, DeviceValues, OpAttributes, TensorflowOps } from "./tensorflowOps.ts";
export type { MatmulPrecision } from "./tensorflowEnvironment.ts";
export { engineNames, startEngine } from "./startEngine.ts";
export type { StartEngineOptions } from "./startEngine.ts";
