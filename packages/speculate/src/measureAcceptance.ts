import type { Generation } from "./generation.ts";

/** How much of what a drafter proposes its target accepts. */
export interface Acceptance {
  /** Rounds of all answers. */
  readonly rounds: number;
  /** Mean acceptance length over all rounds, 1 to the block size; null without rounds. */
  readonly pooled: number | null;
  /** Mean over the answers of each one's mean acceptance length; null without rounds. */
  readonly perResponse: number | null;
  /** Rounds by acceptance length: the first counts those of length 1, the last those of the block size. */
  readonly histogram: readonly number[];
  /** Share of the rounds in which the k-th draft token was accepted, k = 1 to block size − 1; null without rounds. */
  readonly bySlot: readonly number[] | null;
}

/** Counts what the rounds of the answers committed; answers without a round count nowhere. */
export function measureAcceptance(
  generations: readonly Pick<Generation, "acceptanceLengths">[],
  blockSize: number,
): Acceptance {
  const answers = generations.map(({ acceptanceLengths }) => acceptanceLengths).filter(({ length }) => length > 0);
  const lengths = answers.flat();
  const rounds = lengths.length;
  const histogram = Array.from({ length: blockSize }, (_, i) => lengths.filter((length) => length === i + 1).length);
  if (rounds === 0) return { rounds, pooled: null, perResponse: null, histogram, bySlot: null };
  const atLeast = (length: number): number => lengths.filter((other) => other >= length).length;
  return {
    rounds,
    pooled: mean(lengths),
    perResponse: mean(answers.map(mean)),
    histogram,
    bySlot: histogram.slice(1).map((_, i) => atLeast(i + 2) / rounds),
  };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
