import { type CachedSequence, createKeyValueCache, type Ops, type Tensor } from "@dflash/ops";
import { cachedBlockRanges } from "../blocks/cachedBlockRanges.ts";
import type { DrafterConfig } from "../config/drafterConfig.ts";
import type { DecoderLayer } from "./decoderLayer.ts";
import type { TargetFeatures } from "./featureProjection.ts";

/** New positions of one sequence. */
export interface NewPositions {
  /** Of this drafter's `createCache`. */
  readonly cache: CachedSequence;
  /** How many. */
  readonly count: number;
}

/**
 * Drafting block by block: keys and values of the positions whose features are known are kept, layer by layer, so that each
 * round projects the new ones only. A block's own are never kept.
 */
export interface CachedDrafting {
  /** An empty cache, for drafting one sequence. */
  createCache(): CachedSequence;
  /**
   * Adds the target's features of the next positions of every row, behind one another.
   *
   * @throws {RangeError} For features of other layers or of another number of positions.
   * @throws {TypeError} For a cache of another drafter, a disposed one, or one that is named by two rows.
   */
  append(rows: readonly NewPositions[], features: TargetFeatures): void;
  /**
   * Hidden state of each slot of the blocks that start where the caches end, after the final norm, [n·b, H]; the target's LM
   * head makes logits of it, slot k those of the token at position length + k. The caller disposes it.
   *
   * @param noise The target's embedding of the blocks' tokens, [n·b, H]: of each the last committed token, whose features aren't
   * there yet, then the mask token; 1 ≤ b ≤ block size.
   * @throws {RangeError} For an empty cache and for blocks of other sizes.
   */
  draft(caches: readonly CachedSequence[], noise: Tensor): Tensor;
}

export interface CachedDraftingOptions {
  readonly ops: Ops;
  readonly config: DrafterConfig;
  readonly layers: readonly DecoderLayer[];
  readonly project: (features: TargetFeatures) => Tensor;
  /** The final norm. */
  readonly finish: (hidden: Tensor) => Tensor;
}

export function createCachedDrafting({ ops, config, layers, project, finish }: CachedDraftingOptions): CachedDrafting {
  const { kvHeads, headDim } = config;
  const cache = createKeyValueCache({ ops, name: "drafter cache", layers: layers.length, kvHeads, headDim });

  return {
    createCache: () => cache.open(),
    append(rows, features) {
      const context = ops.scope(() => project(features));
      try {
        const places = cache.place(rows.map(({ cache: sequence, count }) => ({ sequence, count })));
        const [positions] = context.shape;
        if (positions !== places.rows.length)
          throw new RangeError(`drafter cache: features of ${positions} positions, expected ${places.rows.length}`);
        ops.scope(() => {
          for (const [i, layer] of layers.entries()) cache.write(i, places, layer.context(context, places.positions));
        });
        places.keep();
      } finally {
        context.dispose();
      }
    },
    draft(caches, noise) {
      const slots = (noise.shape[0] ?? 0) / caches.length;
      if (!Number.isInteger(slots) || slots < 1 || slots > config.blockSize)
        throw new RangeError(
          `drafter cache: each of ${caches.length} blocks has ${slots} slots, expected 1 to ${config.blockSize}`,
        );
      const empty = caches.findIndex(({ length }) => length === 0);
      if (empty >= 0)
        throw new RangeError(
          `drafter cache: that of row ${empty} is empty, expected the prompt's features before a draft`,
        );
      const places = cache.place(caches.map((sequence) => ({ sequence, count: slots })));
      const ranges = cachedBlockRanges(places, slots, config);
      return ops.scope(() => {
        const hidden = layers.reduce(
          (before, layer, i) =>
            layer.forward(before, places.positions, (own) => cache.write(i, places, own), ranges[layer.type]),
          noise,
        );
        return finish(hidden);
      });
    },
  };
}
