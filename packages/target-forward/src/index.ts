export type { TokenBatch } from "./tokenBatch.ts";
export type { TargetForwardOptions, TargetHead, TargetHiddenStates, TargetModel } from "./targetModel.ts";
export type { PackedHiddenStates } from "./packedHiddenStates.ts";
