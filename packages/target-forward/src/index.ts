export { createHiddenStateQueue, type HiddenStateQueue, type HiddenStateQueueOptions } from "./hiddenStateQueue.ts";
export type { PackedHiddenStates } from "./packedHiddenStates.ts";
export { mayPut, mayTake, queuePolicy, type QueuePolicy } from "./queuePolicy.ts";
export {
  createTargetForwardLoop,
  type TargetForwardEvents,
  type TargetForwardListener,
  type TargetForwardLoop,
  type TargetForwardLoopOptions,
} from "./targetForwardLoop.ts";
export type { TargetForwardOptions, TargetHead, TargetHiddenStates, TargetModel } from "./targetModel.ts";
export type { TokenBatch } from "./tokenBatch.ts";
