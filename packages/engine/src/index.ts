export type { Engine, EngineCounters, EngineMemory, EngineName } from "./engine.ts";
export { engineNames, startEngine } from "./startEngine.ts";
export type { StartEngineOptions } from "./startEngine.ts";
