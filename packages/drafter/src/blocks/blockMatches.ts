import type { BlockTargets } from "./blockTargets.ts";

/** Sums over blocks, to be added before ratios are taken. */
export interface BlockMatches {
  /** Blocks with a supervised slot. */
  readonly blocks: number;
  /** Supervised slots whose prediction was right, as were all supervised ones before it in the block. */
  readonly accepted: number;
  /** Supervised slots by slot, [B]; the anchor's has none. */
  readonly supervised: Float64Array;
  /** Of those, the ones whose prediction was right, [B]. */
  readonly correct: Float64Array;
  /** Sum of their losses, nats, [B]. */
  readonly losses: Float64Array;
}

/** Ratios of {@link BlockMatches}; null where nothing was supervised. */
export interface BlockRates {
  /** Right predictions among all supervised slots, unweighted. */
  readonly accuracy: number | null;
  /** The same by slot, from slot 1, [B − 1]; null where no slot was supervised. */
  readonly accuracyBySlot: readonly (number | null)[];
  /** Mean loss by slot, unweighted, nats, from slot 1, [B − 1]; null where no slot was supervised. */
  readonly lossBySlot: readonly (number | null)[];
  /**
   * Tokens that a block would commit in speculative decoding, the target's own included: 1 + accepted / blocks. The prefix
   * is followed block by block; slots without supervision neither break it nor count.
   */
  readonly acceptanceLength: number | null;
}

/** What the drafter made of the supervised slots, [R]. */
export interface BlockOutcomes {
  /** The drafter's token. */
  readonly predictions: ArrayLike<number>;
  /** Nats. */
  readonly rowLosses: ArrayLike<number>;
}

/** Compares predictions with the targets of a batch, block by block. */
export function countMatches(targets: BlockTargets, outcomes: BlockOutcomes, blockSize: number): BlockMatches {
  const supervised = new Float64Array(blockSize);
  const correct = new Float64Array(blockSize);
  const losses = new Float64Array(blockSize);
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
    const right = outcomes.predictions[i] === targets.labels[i];
    unbroken &&= right;
    const slot = row % blockSize;
    supervised[slot]!++;
    losses[slot]! += outcomes.rowLosses[i]!;
    if (right) correct[slot]!++;
    if (unbroken) accepted++;
  }
  return { blocks, accepted, supervised, correct, losses };
}

/** The sums of both. */
export function addMatches(a: BlockMatches, b: BlockMatches): BlockMatches {
  const add = (name: "supervised" | "correct" | "losses"): Float64Array =>
    a[name].map((value, slot) => value + b[name][slot]!);
  return {
    blocks: a.blocks + b.blocks,
    accepted: a.accepted + b.accepted,
    supervised: add("supervised"),
    correct: add("correct"),
    losses: add("losses"),
  };
}

/** The ratios of sums. */
export function blockRates({ blocks, accepted, supervised, correct, losses }: BlockMatches): BlockRates {
  const bySlot = (parts: Float64Array): (number | null)[] =>
    Array.from(supervised, (count, slot) => ratio(parts[slot]!, count)).slice(1);
  return {
    accuracy: ratio(sum(correct), sum(supervised)),
    accuracyBySlot: bySlot(correct),
    lossBySlot: bySlot(losses),
    acceptanceLength: blocks === 0 ? null : 1 + accepted / blocks,
  };
}

function ratio(part: number, whole: number): number | null {
  return whole === 0 ? null : part / whole;
}

function sum(values: Float64Array): number {
  return values.reduce((total, value) => total + value, 0);
}
