import type { CachedTokens, ExtendedHiddenStates } from "@dflash/target-forward";
import type { Tensor } from "@dflash/ops";
import type { ForwardContext, KeysValues } from "./attentionBlock.ts";
import { cachedAttentionBlock } from "./cachedAttentionBlock.ts";
import { cachedPlaces } from "./cachedPlaces.ts";
import type { Decoder } from "./decoder.ts";
import type { KeyValueCache } from "./keyValueCache.ts";
import { mlpBlock } from "./mlpBlock.ts";

/** Runs all layers over the new tokens of every row and adds them to the rows' caches. */
export function extend(
  decoder: Decoder,
  rows: readonly (CachedTokens & { readonly cache: KeyValueCache })[],
  layerIds: readonly number[],
): ExtendedHiddenStates {
  const { ops, config, head, layers, sections } = decoder;
  const { ids, rowStarts, ...places } = cachedPlaces(rows, config.vocabSize);
  const context: ForwardContext = { ops, config, places, rotary: decoder.rotary.covering(places.longestRow) };
  const wanted = new Set([...layerIds, layers.length - 1]);
  const { captured, kept } = ops.scope(() => {
    const outputs = new Array<Tensor>();
    const keptByLayer = new Array<readonly KeysValues[]>();
    let hidden = ops.embedding(head.embedTokens, ids);
    for (const [id, { attention, mlp }] of layers.entries()) {
      const before = rows.map(({ cache }) => cache.kept[id] ?? null);
      const attended = sections.attention.time(() =>
        cachedAttentionBlock(context, attention, hidden, before, rowStarts),
      );
      keptByLayer.push(attended.kept);
      const output = sections.mlp.time(() => mlpBlock(context, mlp, attended.output));
      attended.output.dispose();
      if (id === 0 || !wanted.has(id - 1)) hidden.dispose();
      outputs.push(output);
      hidden = output;
    }
    return { captured: outputs.map((output, id) => (wanted.has(id) ? output : null)), kept: keptByLayer };
  });
  for (const [row, { cache, ids: own }] of rows.entries())
    cache.replace(
      kept.map((layer) => layer[row]!),
      cache.length + own.length,
    );
  return { features: layerIds.map((id) => captured[id]!), last: captured.at(-1)! };
}
