export type { FeatureLayout, HiddenStates, PackedHiddenStates, SplitHiddenStates } from "./hiddenStates.ts";
export type { HiddenStateSource, HostHiddenStates, HostMatrix } from "./hostHiddenStates.ts";
export {
  createTargetForwardLoop,
  type LoopOptions,
  type LoopQueue,
  type TargetForwardEvents,
  type TargetForwardListener,
  type TargetForwardLoop,
  type TargetForwardLoopOptions,
} from "./loop/targetForwardLoop.ts";
export {
  createHiddenStateQueue,
  type HiddenStateQueue,
  type HiddenStateQueueOptions,
  type QueuedBatch,
} from "./queue/hiddenStateQueue.ts";
export { mayPut, mayTake, queuePolicy, type QueuePolicy } from "./queue/queuePolicy.ts";
export type {
  CachedTargetModel,
  CachedTokens,
  CaptureOptions,
  ExtendedHiddenStates,
  LoadTarget,
  TargetCache,
  TargetContext,
  TargetForwardOptions,
  TargetHead,
  TargetHiddenStates,
  TargetModel,
} from "./targetModel.ts";
export type { TokenBatch } from "./tokenBatch.ts";
export {
  startTargetWorkers,
  type TargetWorkerEvents,
  type TargetWorkers,
  type TargetWorkersOptions,
} from "./workers/startTargetWorkers.ts";
export { TargetWorkerError } from "./workers/targetWorkerError.ts";
export type { WireFormat, WorkerEngine } from "./workers/workerMessages.ts";
export type { WorkerPlacement } from "./workers/workerPort.ts";
export {
  openHiddenStateFiles,
  type HiddenStateFiles,
  type HiddenStateFilesEvents,
  type HiddenStateFilesOptions,
} from "./files/openHiddenStateFiles.ts";
export {
  createHiddenStateWriter,
  type HiddenStateWriter,
  type HiddenStateWriterOptions,
} from "./files/createHiddenStateWriter.ts";
export { replayPipeline, type BatchTimes, type PipelineReplay, type PipelineSettings } from "./queue/replayPipeline.ts";
