/** An answer to a prompt. */
export interface Generation {
  /** The new tokens, up to and with the first stop token. */
  readonly ids: Int32Array;
  /** What ended it: a stop token, the limit of new tokens, or the signal. */
  readonly finish: "stop" | "length" | "signal";
  /**
   * Tokens that each round committed, from 1 to the block size: the accepted ones of the draft and the target's own. The last
   * round counts what lies behind the end of the answer too; the prompt's round, which drafts nothing, isn't counted.
   */
  readonly acceptanceLengths: readonly number[];
}

/** Tokens that a round added to an answer. */
export interface GeneratedTokens {
  /** Index of the prompt. */
  readonly prompt: number;
  /** The tokens. */
  readonly ids: readonly number[];
  /** How many of them, from the first on, the drafter proposed; the rest is the target's own. */
  readonly accepted: number;
}
