export {
  addMatches,
  blockRates,
  countMatches,
  type BlockMatches,
  type BlockOutcomes,
  type BlockRates,
} from "./blocks/blockMatches.ts";
export { blockRanges, type LayerRanges } from "./blocks/blockRanges.ts";
export { blockTargets, type BlockTargets } from "./blocks/blockTargets.ts";
export { createAnchorSampler, type AnchorOptions, type AnchorRule, type Blocks } from "./blocks/createAnchorSampler.ts";
export { noiseBlocks, rowPositions, type NoiseBlocks } from "./blocks/noiseBlocks.ts";
export {
  bestCheckpoint,
  checkpointFolders,
  listCheckpoints,
  type ListCheckpointsOptions,
  pruneCheckpoints,
  type SavedCheckpoint,
} from "./checkpoint/checkpoints.ts";
export { loadCheckpoint, type LoadCheckpointOptions, type LoadedCheckpoint } from "./checkpoint/loadCheckpoint.ts";
export { loadDrafter, type LoadDrafterOptions } from "./checkpoint/loadDrafter.ts";
export { saveCheckpoint, type CheckpointOptions } from "./checkpoint/saveCheckpoint.ts";
export { saveDrafter, type SaveDrafterOptions } from "./checkpoint/saveDrafter.ts";
export type { TrainingState } from "./checkpoint/trainingState.ts";
export { verifyCheckpoint } from "./checkpoint/verifyCheckpoint.ts";
export { checkMaskToken, type TextTokens } from "./config/checkMaskToken.ts";
export {
  createDrafterConfig,
  type DrafterConfig,
  type DrafterConfigOptions,
  type DrafterSize,
  type LayerType,
  type TargetShape,
} from "./config/drafterConfig.ts";
export { formatDrafterConfig, type WeightType } from "./config/formatDrafterConfig.ts";
export { parseDrafterConfig } from "./config/parseDrafterConfig.ts";
export { dPaceWeights } from "./loss/dPaceWeights.ts";
export { lossWeighting, type Loss, type LossWeighting } from "./loss/loss.ts";
export { defaultGamma, slotWeights } from "./loss/slotWeights.ts";
export { createDrafter, type DFlashDrafter, type DrafterInput, type DrafterOptions } from "./model/createDrafter.ts";
export type { CachedDrafting, NewPositions } from "./model/cachedDrafting.ts";
export type { TargetFeatures } from "./model/featureProjection.ts";
export { parameterShapes } from "./model/parameterShapes.ts";
export { randomWeights, type WeightSource } from "./model/randomWeights.ts";
export { adamW, decayMatrices, type AdamWPartOptions } from "./optimizer/adamW.ts";
export { clipByGlobalNorm, type ClipOptions } from "./optimizer/clipByGlobalNorm.ts";
export type { OptimizerPart, TensorMap, Update, UpdateFigures } from "./optimizer/optimizerPart.ts";
export {
  warmupConstant,
  warmupCosine,
  warmupLinear,
  warmupStableDecay,
  type Schedule,
  type ScheduleOptions,
  type StableDecayOptions,
} from "./optimizer/schedule.ts";
export { checkSeed, philox, randomStream, uniform } from "./philox.ts";
export { targetLayerIds } from "./targetLayerIds.ts";
export { drafterFlops, type BatchExtent, type DrafterFlops } from "./training/drafterFlops.ts";
export type { HeadChunk } from "./training/objective.ts";
export type { Skip, StepResult } from "./training/stepResult.ts";
export type { TrainBatch } from "./training/trainBatch.ts";
export { trainDrafter, type TrainOptions } from "./training/trainDrafter.ts";
export type { TrainEvents, TrainRun, TrainSummary } from "./training/trainRun.ts";
export { createTrainStep, type StepCounters, type TrainStep, type TrainStepOptions } from "./training/trainStep.ts";
