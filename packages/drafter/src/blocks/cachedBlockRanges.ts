import type { RowRanges } from "@dflash/block-mask";
import type { CachePlaces } from "@dflash/ops";
import type { DrafterConfig } from "../config/drafterConfig.ts";
import { blockRanges, type LayerRanges } from "./blockRanges.ts";

/** {@link blockRanges} of blocks that were placed in a cache, one a sequence: each lies right behind its context. */
export function cachedBlockRanges(
  { starts, rows, keyLength }: CachePlaces,
  blockSize: number,
  config: DrafterConfig,
): LayerRanges {
  const anchors = starts.map((_, block) => rows[block * blockSize]!);
  const blocks = {
    anchors,
    keep: new Uint8Array(anchors.length).fill(1),
    rowStarts: starts,
    rowEnds: anchors.map((anchor) => anchor + blockSize),
  };
  const apart = blockRanges(blocks, { ...config, blockSize }, keyLength);
  const behind = ({ queryLength, bounds }: RowRanges): RowRanges => {
    const moved = bounds.slice();
    for (let slot = 0; slot < queryLength; slot++) {
      const block = Math.floor(slot / blockSize);
      const shift = anchors[block]! - keyLength - block * blockSize;
      moved[4 * slot + 2]! += shift;
      moved[4 * slot + 3]! += shift;
    }
    return { queryLength, keyLength, bounds: moved };
  };
  return { full_attention: behind(apart.full_attention), sliding_attention: behind(apart.sliding_attention) };
}
