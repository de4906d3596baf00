import type { Ops, Tensor } from "@dflash/ops";
import { blockRanges } from "../blocks/blockRanges.ts";
import type { DrafterConfig } from "../config/drafterConfig.ts";
import type { DecoderLayer, KeysValues } from "./decoderLayer.ts";
import type { TargetFeatures } from "./featureProjection.ts";

/**
 * Keys and values of one sequence's committed positions, layer by layer, so that each round of speculative decoding projects
 * the new ones only. A block's own keys are never kept.
 */
export interface DrafterCache {
  /** Committed positions held: 0 to length − 1. */
  readonly length: number;
  /** Adds the target's features of the next positions. */
  append(features: TargetFeatures): void;
  /** Keeps the first `length` positions. */
  crop(length: number): void;
  /**
   * Hidden state of each slot of the block that starts at position `length`, after the final norm, [b, H]; the target's LM
   * head makes logits of it, slot k those of the token at position length + k. The caller disposes it.
   *
   * @param noise The target's embedding of the block's tokens, [b, H]: the last committed token, whose features aren't there
   * yet, then the mask token; 1 ≤ b ≤ block size.
   */
  draft(noise: Tensor): Tensor;
  /** Frees what it keeps. */
  dispose(): void;
}

export interface DrafterCacheOptions {
  readonly ops: Ops;
  readonly config: DrafterConfig;
  readonly layers: readonly DecoderLayer[];
  readonly project: (features: TargetFeatures) => Tensor;
  /** The final norm. */
  readonly finish: (hidden: Tensor) => Tensor;
}

export function createDrafterCache({ ops, config, layers, project, finish }: DrafterCacheOptions): DrafterCache {
  let kept: readonly KeysValues[] = [];
  let length = 0;

  const replace = (next: readonly KeysValues[], nextLength: number): void => {
    for (const { keys, values } of kept) for (const tensor of [keys, values]) tensor.dispose();
    kept = next;
    length = nextLength;
  };

  return {
    get length() {
      return length;
    },
    append(features) {
      const next = ops.scope(() => {
        const context = project(features);
        const positions = Int32Array.from({ length: context.shape[0]! }, (_, i) => length + i);
        return layers.map((layer, i) => {
          const { keys, values } = layer.context(context, positions);
          const before = kept[i];
          if (before === undefined) return { keys, values };
          return { keys: ops.concat([before.keys, keys], 0), values: ops.concat([before.values, values], 0) };
        });
      });
      replace(next, next[0]!.keys.shape[0]!);
    },
    crop(to) {
      if (!Number.isInteger(to) || to < 0 || to > length)
        throw new RangeError(`drafter cache: length is ${to}, expected an integer from 0 to ${length}`);
      if (to === length) return;
      const cut = (tensor: Tensor): Tensor => ops.slice(tensor, 0, to);
      replace(to === 0 ? [] : kept.map(({ keys, values }) => ({ keys: cut(keys), values: cut(values) })), to);
    },
    draft(noise) {
      const slots = noise.shape[0] ?? 0;
      if (slots < 1 || slots > config.blockSize)
        throw new RangeError(`drafter cache: the block has ${slots} slots, expected 1 to ${config.blockSize}`);
      if (length === 0) throw new Error("drafter cache: it is empty, expected the prompt's features before a draft");
      const block = {
        anchors: Int32Array.of(length),
        keep: Uint8Array.of(1),
        rowStarts: Int32Array.of(0),
        rowEnds: Int32Array.of(length + slots),
      };
      const ranges = blockRanges(block, { ...config, blockSize: slots }, length);
      const positions = Int32Array.from({ length: slots }, (_, slot) => length + slot);
      return ops.scope(() =>
        finish(
          layers.reduce((hidden, layer, i) => layer.forward(hidden, positions, kept[i]!, ranges[layer.type]), noise),
        ),
      );
    },
    dispose() {
      replace([], 0);
    },
  };
}
