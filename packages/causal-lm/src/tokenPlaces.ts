import { causalRowRanges, type RowRanges } from "@dflash/block-mask";
import type { TokenBatch } from "@dflash/target-forward";

/** Where the T tokens of a batch stand and whom they see. */
export interface TokenPlaces {
  /** Position of each token in its row, [T]. */
  readonly positions: Int32Array;
  /** The keys that each token sees: its row up to itself. */
  readonly ranges: RowRanges;
  /** Tokens of the longest row. */
  readonly longestRow: number;
}

/** Throws a RangeError unless the rows are the tokens of the batch and each token is in the vocabulary. */
export function tokenPlaces({ index, ids, rowStarts }: TokenBatch, vocabSize: number): TokenPlaces {
  const ranges = causalRowRanges({ rowStarts });
  if (ids.length === 0 || ids.length !== ranges.queryLength) {
    throw new RangeError(
      `batch ${index}: ${ids.length} ids in rows of ${ranges.queryLength} tokens, expected as many of both and at least 1`,
    );
  }
  const outside = ids.findIndex((id) => id < 0 || id >= vocabSize);
  if (outside >= 0) {
    throw new RangeError(
      `batch ${index}: token ${outside} has id ${ids[outside]}, expected 0 to ${vocabSize - 1}, the target's vocabulary`,
    );
  }
  const positions = ids.map((_, token) => token - ranges.bounds[4 * token]!);
  return { positions, ranges, longestRow: 1 + positions.reduce((longest, position) => Math.max(longest, position), 0) };
}
