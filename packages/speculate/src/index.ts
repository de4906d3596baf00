export {
  compareSpeeds,
  type CompareSpeedsOptions,
  type GenerationSpeed,
  type SpeedComparison,
} from "./compareSpeeds.ts";
export type { Part } from "./createRounds.ts";
export { generate, type GenerateOptions } from "./generate.ts";
export type { GeneratedTokens, Generation } from "./generation.ts";
export { measureAcceptance, type Acceptance } from "./measureAcceptance.ts";
