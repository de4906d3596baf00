import type { Blocks } from "./createAnchorSampler.ts";

/** What stands in the slots of all blocks. */
export interface NoiseBlocks {
  /** The anchor's token in slot 0 of a kept block, the mask token in every other slot, [N·B]. */
  readonly ids: Int32Array;
  /** Position of each slot in its row, [N·B]: the anchor's plus the slot. */
  readonly positions: Int32Array;
}

/**
 * Fills each block: its anchor's token first, the mask token in all other slots.
 * @param ids Token ids of the packed batch.
 */
export function noiseBlocks(blocks: Blocks, ids: Int32Array, blockSize: number, maskTokenId: number): NoiseBlocks {
  const { anchors, keep, rowStarts } = blocks;
  const noise = {
    ids: new Int32Array(anchors.length * blockSize).fill(maskTokenId),
    positions: new Int32Array(anchors.length * blockSize),
  };
  for (let block = 0; block < anchors.length; block++) {
    const first = block * blockSize;
    if (keep[block]) noise.ids[first] = ids[anchors[block]!]!;
    for (let slot = 0; slot < blockSize; slot++)
      noise.positions[first + slot] = anchors[block]! - rowStarts[block]! + slot;
  }
  return noise;
}

/** Position of each packed token in its row, [T]. */
export function rowPositions(rowStarts: Int32Array): Int32Array {
  const positions = new Int32Array(rowStarts.at(-1) ?? 0);
  for (let row = 0; row + 1 < rowStarts.length; row++) {
    const start = rowStarts[row]!;
    for (let token = start; token < rowStarts[row + 1]!; token++) positions[token] = token - start;
  }
  return positions;
}
