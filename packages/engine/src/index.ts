export type { Engine, EngineCounters, EngineMemory, EngineName } from "./engine.ts";
