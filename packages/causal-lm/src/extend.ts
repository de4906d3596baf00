import type { KeyValueCache, Tensor } from "@dflash/ops";
import type { CachedTokens, ExtendedHiddenStates } from "@dflash/target-forward";
import { attentionBlock, type ForwardContext } from "./attentionBlock.ts";
import { cachedPlaces } from "./cachedPlaces.ts";
import type { Decoder } from "./decoder.ts";
import { mlpBlock } from "./mlpBlock.ts";

/** Runs all layers over the new tokens of every row and adds them to the rows' sequences in the cache. */
export function extend(
  decoder: Decoder,
  cache: KeyValueCache,
  rows: readonly CachedTokens[],
  layerIds: readonly number[],
): ExtendedHiddenStates {
  const { ops, config, head, layers, sections } = decoder;
  const { ids, kept, ...places } = cachedPlaces(cache, rows, config.vocabSize);
  const context: ForwardContext = { ops, config, places, rotary: decoder.rotary.covering(places.longestRow) };
  const wanted = new Set([...layerIds, layers.length - 1]);
  const captured = ops.scope(() => {
    const outputs = new Array<Tensor>();
    let hidden = ops.embedding(head.embedTokens, ids);
    for (const [id, { attention, mlp }] of layers.entries()) {
      const between = sections.attention.time(() =>
        attentionBlock(context, attention, hidden, (own) => cache.write(id, kept, own)),
      );
      const output = sections.mlp.time(() => mlpBlock(context, mlp, between));
      between.dispose();
      if (id === 0 || !wanted.has(id - 1)) hidden.dispose();
      outputs.push(output);
      hidden = output;
    }
    return outputs.map((output, id) => (wanted.has(id) ? output : null));
  });
  kept.keep();
  return { features: layerIds.map((id) => captured[id]!), last: captured.at(-1)! };
}
