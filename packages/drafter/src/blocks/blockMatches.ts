import type { BlockTargets } from "./blockTargets.ts";

/** Sums over blocks, to be added before ratios are taken. */
export interface BlockMatches {
  /** Blocks with a supervised slot. */
  readonly blocks: number;
  /** Supervised slots whose prediction was right, as were all supervised ones before it in the block. */
  readonly accepted: number;
  /** Supervised slots by slot, [B]; the anchor's has none. */
  readonly supervised: Uint32Array;
  /** Of those, the ones whose prediction was right, [B]. */
  readonly correct: Uint32Array;
}

export interface BlockRates {
  /** Right predictions among all supervised slots, unweighted. */
  readonly accuracy: number | null;
  /** The same by slot, from slot 1, [B − 1]; null where no slot was supervised. */
  readonly accuracyBySlot: readonly (number | null)[];
  /**
   * Tokens that a block would commit in speculative decoding, the target's own included: 1 + accepted / blocks. The prefix
   * is followed block by block; slots without supervision neither break it nor count.
   */
  readonly acceptanceLength: number | null;
}

/** @param predictions The drafter's token for each supervised slot, [R]. */
export function countMatches(targets: BlockTargets, predictions: ArrayLike<number>, blockSize: number): BlockMatches {
  const supervised = new Uint32Array(blockSize);
  const correct = new Uint32Array(blockSize);
  let blocks = 0;
  let accepted = 0;
  let current = -1;
  let unbroken = true;
  for (const [i, row] of targets.rows.entries()) {
    const block = Math.floor(row / blockSize);
    if (block !== current) {
      current = block;
      unbroken = true;
      blocks++;
    }
    const right = predictions[i] === targets.labels[i];
    unbroken &&= right;
    supervised[row % blockSize]!++;
    if (right) correct[row % blockSize]!++;
    if (unbroken) accepted++;
  }
  return { blocks, accepted, supervised, correct };
}

export function blockRates({ blocks, accepted, supervised, correct }: BlockMatches): BlockRates {
  const accuracyBySlot = Array.from(supervised, (count, slot) => ratio(correct[slot]!, count)).slice(1);
  return {
    accuracy: ratio(sum(correct), sum(supervised)),
    accuracyBySlot,
    acceptanceLength: blocks === 0 ? null : 1 + accepted / blocks,
  };
}

function ratio(part: number, whole: number): number | null {
  return whole === 0 ? null : part / whole;
}

function sum(values: Uint32Array): number {
  return values.reduce((total, value) => total + value, 0);
}
