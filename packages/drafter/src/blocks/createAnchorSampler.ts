import type { TokenBatch } from "@dflash/target-forward";
import { checkSeed, philox, randomStream } from "../philox.ts";

/** The blocks of one batch, N of them; block i takes queries i·B ≤ q < (i + 1)·B. */
export interface Blocks {
  /** Index of each block's anchor in the packed batch, [N]. */
  readonly anchors: Int32Array;
  /** 0 for a block that only fills a shape: it sees nothing and learns nothing, [N]. */
  readonly keep: Uint8Array;
  /** Index of the first token of each block's row, [N]. */
  readonly rowStarts: Int32Array;
  /** Index past the last token of each block's row, [N]. */
  readonly rowEnds: Int32Array;
}

/**
 * Which supervised positions may be anchors: `pair`, those whose next token is supervised too (SpecForge), so that blocks may
 * run past their row's end; `whole-block`, those whose block ends in the row (TorchSpec, NeMo).
 */
export type AnchorRule = "pair" | "whole-block";

/** Settings of {@link createAnchorSampler}. */
export interface AnchorOptions {
  /** B. */
  readonly blockSize: number;
  /** Most anchors a row; the published recipes take 512. */
  readonly anchorsPerRow: number;
  /** Most anchors a batch, shared out evenly: what short rows leave goes to longer ones. No bound unless given. */
  readonly anchorsPerBatch?: number;
  /** `pair` unless given. */
  readonly rule?: AnchorRule;
  /** From 0 to 2^32 − 1. */
  readonly seed: number;
}

/**
 * Makes the function that draws the anchors of a batch: eligible positions without replacement, in order. The draw depends
 * on nothing but the seed, the batch's index, the row and the position: a row that comes again in a later epoch, and so in
 * another batch, gets others.
 *
 * @throws {RangeError} When an option is out of range.
 */
export function createAnchorSampler(options: AnchorOptions): (batch: TokenBatch) => Blocks {
  const { anchorsPerRow, anchorsPerBatch = Infinity, seed } = options;
  checkSeed(seed);
  for (const [name, value] of Object.entries({ anchorsPerRow, anchorsPerBatch })) {
    if (value !== Infinity && (!Number.isInteger(value) || value < 1))
      throw new RangeError(`${name} is ${value}, expected an integer of at least 1`);
  }
  return (batch) => {
    const rows = batch.rowStarts.length - 1;
    const eligible = Array.from({ length: rows }, (_, row) => eligiblePositions(batch, row, options));
    const counts = share(
      eligible.map(({ length }) => Math.min(length, anchorsPerRow)),
      anchorsPerBatch,
    );
    const blocks: { anchor: number; row: number }[] = [];
    for (const [row, positions] of eligible.entries()) {
      const drawn = draw(positions, counts[row]!, (position) => sortKey(seed, batch.index, row, position));
      for (const position of drawn) blocks.push({ anchor: batch.rowStarts[row]! + position, row });
    }
    return {
      anchors: Int32Array.from(blocks, ({ anchor }) => anchor),
      keep: new Uint8Array(blocks.length).fill(1),
      rowStarts: Int32Array.from(blocks, ({ row }) => batch.rowStarts[row]!),
      rowEnds: Int32Array.from(blocks, ({ row }) => batch.rowStarts[row + 1]!),
    };
  };
}

function eligiblePositions({ lossMask, rowStarts }: TokenBatch, row: number, options: AnchorOptions): number[] {
  const { rule = "pair", blockSize } = options;
  const [start, end] = [rowStarts[row]!, rowStarts[row + 1]!];
  const last = rule === "pair" ? end - 2 : end - blockSize;
  const eligible: number[] = [];
  for (let token = start; token <= last; token++) {
    if (lossMask[token] && (rule === "whole-block" || lossMask[token + 1])) eligible.push(token - start);
  }
  return eligible;
}

/** How much of a budget each gets that wants so much: the same for all, except for those who want less. */
function share(wanted: readonly number[], budget: number): number[] {
  const given = wanted.map(() => 0);
  const order = wanted.map((_, i) => i).toSorted((a, b) => wanted[a]! - wanted[b]!);
  let left = budget;
  for (const [rank, i] of order.entries()) {
    given[i] = Math.min(wanted[i]!, Math.floor(left / (order.length - rank)));
    left -= given[i];
  }
  return given;
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
