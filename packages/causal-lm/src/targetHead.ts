import type { Ops } from "@dflash/ops";
import type { TargetHead } from "@dflash/target-forward";
import { readCausalLMConfig, type CausalLMConfig } from "./causalLMConfig.ts";
import { headShapes } from "./parameterShapes.ts";
import { withWeights, type Weights } from "./weights.ts";

/** What a head is loaded with. */
export interface TargetHeadOptions {
  /** Where the weights go. */
  ops: Ops;
}

/**
 * Loads a target's embedding, final norm and LM head alone: what a drafter shares with it, frozen, when the hidden states
 * come from elsewhere. A {@link CausalLM} has its own.
 *
 * @throws {Error} One line with the file, the key or tensor, and what was expected.
 */
export async function loadTargetHead(dir: string, { ops }: TargetHeadOptions): Promise<TargetHead> {
  const config = await readCausalLMConfig(dir);
  return withWeights(dir, headShapes(config), ops, (weights) => loadHead(weights, config));
}

/** The head's tensors out of `weights`. */
export async function loadHead(weights: Weights, config: CausalLMConfig): Promise<TargetHead> {
  const { vocabSize, hiddenSize, epsilon: normEpsilon } = config;
  const embedTokens = await weights.load("model.embed_tokens.weight");
  const lmHead = config.tied ? embedTokens : await weights.load("lm_head.weight");
  const finalNorm = await weights.load("model.norm.weight");
  return {
    vocabSize,
    hiddenSize,
    embedTokens,
    lmHead,
    finalNorm,
    normEpsilon,
    dispose: () => [embedTokens, lmHead, finalNorm].forEach((tensor) => tensor.dispose()),
  };
}
