import type { TokenBatch } from "@dflash/target-forward";
import { philox, randomStream } from "../philox.ts";

/** The blocks of one batch, N of them; block i takes queries i·B ≤ q < (i + 1)·B. */
export interface Blocks {
  /** Index of each block's anchor in the packed batch, [N]. */
  readonly anchors: Int32Array;
  /** 0 for a block that only fills its row up to the common width: it sees nothing and learns nothing, [N]. */
  readonly keep: Uint8Array;
  /** Index of the first token of each block's row, [N]. */
  readonly rowStarts: Int32Array;
  /** Index past the last token of each block's row, [N]. */
  readonly rowEnds: Int32Array;
}

export interface AnchorOptions {
  /** Most anchors a row. */
  readonly anchorsPerRow: number;
  /** From 0 to 2^32 − 1. */
  readonly seed: number;
}

/**
 * Draws the anchors of a batch by SpecForge's rule: positions p of a row where p and p + 1 are supervised, without
 * replacement, in order. All rows get as many blocks as the row with most anchors has; the rest of a shorter row is not kept.
 * The draw depends on nothing but the seed, the batch's index, the row and the position.
 */
export function sampleAnchors(batch: TokenBatch, options: AnchorOptions): Blocks {
  const { lossMask, rowStarts } = batch;
  const rows = rowStarts.length - 1;
  const drawn: number[][] = [];
  for (let row = 0; row < rows; row++) {
    const start = rowStarts[row]!;
    const eligible: number[] = [];
    for (let token = start; token + 1 < rowStarts[row + 1]!; token++) {
      if (lossMask[token] && lossMask[token + 1]) eligible.push(token);
    }
    drawn.push(
      draw(eligible, options.anchorsPerRow, (token) => sortKey(options.seed, batch.index, row, token - start)),
    );
  }
  const width = Math.max(0, ...drawn.map((anchors) => anchors.length));
  const blocks = {
    anchors: new Int32Array(rows * width),
    keep: new Uint8Array(rows * width),
    rowStarts: new Int32Array(rows * width),
    rowEnds: new Int32Array(rows * width),
  };
  for (const [row, anchors] of drawn.entries()) {
    for (let slot = 0; slot < width; slot++) {
      const block = row * width + slot;
      blocks.anchors[block] = anchors[slot] ?? rowStarts[row]!;
      blocks.keep[block] = slot < anchors.length ? 1 : 0;
      blocks.rowStarts[block] = rowStarts[row]!;
      blocks.rowEnds[block] = rowStarts[row + 1]!;
    }
  }
  return blocks;
}

/** The `count` elements with the smallest keys, in their own order. */
function draw(elements: readonly number[], count: number, key: (element: number) => number): number[] {
  if (elements.length <= count) return [...elements];
  return elements
    .map((element) => ({ element, key: key(element) }))
    .toSorted((a, b) => a.key - b.key || a.element - b.element)
    .slice(0, count)
    .map(({ element }) => element)
    .toSorted((a, b) => a - b);
}

const words = new Uint32Array(4);

function sortKey(seed: number, batchIndex: number, row: number, position: number): number {
  philox([position, row, batchIndex, 0], [seed, randomStream.anchors], words);
  return words[0]! * 2 ** 21 + (words[1]! >>> 11);
}
