/** What a training run took at some size of batch. */
export interface MeasuredRun {
  /** Most tokens in a batch. */
  readonly tokens: number;
  /** Most slots of blocks in a batch: anchors × block size. */
  readonly slots: number;
  /** Most that the process ever held. */
  readonly bytes: number;
  /** Wall time of a step. */
  readonly ms: number;
}

/** What a step costs by the size of its batch. All that a step keeps grows with its tokens or its slots; attention is over a row at a time. */
export interface StepCost {
  readonly bytes: (tokens: number, slots: number) => number;
  readonly ms: (tokens: number, slots: number) => number;
}

/** The plane through three runs: one, one with more slots, one with more tokens. Noise can't make more work cost less. */
export function stepCost([base, moreSlots, moreTokens]: readonly [MeasuredRun, MeasuredRun, MeasuredRun]): StepCost {
  const plane = (of: "bytes" | "ms"): StepCost["bytes"] => {
    const perSlot = slope(moreSlots[of] - base[of], moreSlots.slots - base.slots);
    const rest = perSlot * (moreTokens.slots - base.slots);
    const perToken = slope(moreTokens[of] - base[of] - rest, moreTokens.tokens - base.tokens);
    return (tokens, slots) => base[of] + perToken * (tokens - base.tokens) + perSlot * (slots - base.slots);
  };
  return { bytes: plane("bytes"), ms: plane("ms") };
}

const slope = (rise: number, run: number): number => (run > 0 ? Math.max(0, rise / run) : 0);
