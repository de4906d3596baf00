export { blockRates, countMatches, type BlockMatches, type BlockRates } from "./blocks/blockMatches.ts";
export { blockRanges, type LayerRanges } from "./blocks/blockRanges.ts";
export { blockTargets, type BlockTargets } from "./blocks/blockTargets.ts";
export { noiseBlocks, rowPositions, type NoiseBlocks } from "./blocks/noiseBlocks.ts";
export { sampleAnchors, type AnchorOptions, type Blocks } from "./blocks/sampleAnchors.ts";
export { defaultGamma, slotWeights } from "./blocks/slotWeights.ts";
export { loadDrafter, type LoadDrafterOptions } from "./checkpoint/loadDrafter.ts";
export { saveDrafter } from "./checkpoint/saveDrafter.ts";
export {
  createDrafterConfig,
  type DrafterConfig,
  type DrafterConfigOptions,
  type LayerType,
  type TargetShape,
} from "./config/drafterConfig.ts";
export { formatDrafterConfig } from "./config/formatDrafterConfig.ts";
export { parseDrafterConfig } from "./config/parseDrafterConfig.ts";
export { createDrafter, type DFlashDrafter, type DrafterInput, type DrafterOptions } from "./model/createDrafter.ts";
export { parameterShapes } from "./model/parameterShapes.ts";
export { randomWeights, type WeightSource } from "./model/randomWeights.ts";
export { adamW, type AdamWPartOptions } from "./optimizer/adamW.ts";
export { clipByGlobalNorm, type ClipOptions } from "./optimizer/clipByGlobalNorm.ts";
export type { OptimizerPart, TensorMap, Update, UpdateFigures } from "./optimizer/optimizerPart.ts";
export { warmupCosine, type Schedule, type WarmupCosineOptions } from "./optimizer/schedule.ts";
export { targetLayerIds } from "./targetLayerIds.ts";
export type { Skip, StepResult } from "./training/stepResult.ts";
export {
  trainDrafter,
  type TrainEvents,
  type TrainOptions,
  type TrainRun,
  type TrainSummary,
} from "./training/trainDrafter.ts";
export { createTrainStep, type TrainStep, type TrainStepOptions } from "./training/trainStep.ts";
