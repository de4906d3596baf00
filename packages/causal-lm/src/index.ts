export { loadCausalLM, type CausalLM, type CausalLMOptions, type ForwardTimer } from "./causalLM.ts";
export { readCausalLMConfig, type CausalLMConfig } from "./causalLMConfig.ts";
export type { Rope } from "./rope.ts";
export { loadTargetHead, type TargetHeadOptions } from "./targetHead.ts";
