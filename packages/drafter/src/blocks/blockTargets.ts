import type { TokenBatch } from "@dflash/target-forward";
import type { Blocks } from "./createAnchorSampler.ts";

/** The supervised slots of all blocks, R of them, in order. */
export interface BlockTargets {
  /** Row of each in the drafter's output, block · B + slot, [R]. */
  readonly rows: Int32Array;
  /** Index in the packed batch of the token that each has to predict, [R]. */
  readonly tokens: Int32Array;
  /** That token, [R]. */
  readonly labels: Int32Array;
  /** Rows of the batch with a supervised slot. */
  readonly rowCount: number;
}

/**
 * What the slots of the blocks have to predict: slot k the token at anchor + k. Supervised are the slots from 1 on of
 * kept blocks whose token lies in the row and in its loss mask; a hole in the loss mask cuts nothing behind it.
 */
export function blockTargets(blocks: Blocks, batch: TokenBatch, blockSize: number): BlockTargets {
  const rows: number[] = [];
  const tokens: number[] = [];
  const rowStarts = new Set<number>();
  for (let block = 0; block < blocks.anchors.length; block++) {
    if (!blocks.keep[block]) continue;
    const anchor = blocks.anchors[block]!;
    const slots = Math.min(blockSize, blocks.rowEnds[block]! - anchor);
    for (let slot = 1; slot < slots; slot++) {
      if (!batch.lossMask[anchor + slot]) continue;
      rows.push(block * blockSize + slot);
      tokens.push(anchor + slot);
      rowStarts.add(blocks.rowStarts[block]!);
    }
  }
  return {
    rows: Int32Array.from(rows),
    tokens: Int32Array.from(tokens),
    labels: Int32Array.from(tokens, (token) => batch.ids[token]!),
    rowCount: rowStarts.size,
  };
}
