import type { Ops } from "@dflash/ops";
import type { TargetHead, TargetModel } from "@dflash/target-forward";

/** Tokens of the language; the last is the mask token, which never occurs. */
export const vocabSize = 17;
export const hiddenSize = 64;
export const layers = 4;

/** The language's one rule: what comes after a token. */
export const next = (token: number): number => (5 * token + 3) % (vocabSize - 1);

/** A target model of one's own: its layer k holds the embedding of the token that comes k + 1 places later. */
export function createRuleTarget(ops: Ops): { model: TargetModel; head: TargetHead } {
  const values = Float32Array.from({ length: vocabSize * hiddenSize }, (_, i) => Math.sin(i * (i % 89)) / 4);
  const table = ops.upload(values, [vocabSize, hiddenSize], { frozen: true });
  const finalNorm = ops.upload(new Float32Array(hiddenSize).fill(1), [hiddenSize], { frozen: true });
  const model: TargetModel = {
    layers,
    hiddenSize,
    forward({ ids }, { layerIds, captureLast }) {
      const later = (places: number): Int32Array => (places === 0 ? ids : later(places - 1).map(next));
      const layer = (id: number) => ops.embedding(table, later(id + 1));
      return { features: layerIds.map(layer), last: captureLast ? layer(layers - 1) : null };
    },
    dispose() {
      table.dispose();
      finalNorm.dispose();
    },
  };
  return {
    model,
    head: { vocabSize, hiddenSize, embedTokens: table, lmHead: table, finalNorm, normEpsilon: 1e-6, dispose() {} },
  };
}
