export { generate, type GenerateOptions } from "./generate.ts";
export type { GeneratedTokens, Generation } from "./generation.ts";
export { measureAcceptance, type Acceptance } from "./measureAcceptance.ts";
