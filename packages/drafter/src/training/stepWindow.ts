import type { Ops, Tensor } from "@dflash/ops";
import { addMatches, type BlockMatches } from "../blocks/blockMatches.ts";

/** What one batch brings to a window. */
export interface WindowPart {
  readonly index: number;
  readonly tokens: number;
  readonly anchors: number;
}

/** Gradients and counts of the batches that make one update. */
export interface StepWindow {
  /** One a parameter once a batch with anchors was added; to be divided by `divisor`. */
  readonly gradients: readonly Tensor[];
  /** Σ weight·loss. */
  readonly loss: number;
  readonly divisor: number;
  readonly matches: BlockMatches | null;
  /** For the result of the step. */
  readonly counts: { index: number; batches: number; tokens: number; anchors: number; flops: number };
  /** Counts a batch. */
  open(part: WindowPart): void;
  /** Adds what was computed on it; takes over the gradients. */
  add(evaluated: { gradients: Tensor[]; loss: number; divisor: number; flops: number; matches: BlockMatches }): void;
  /** Takes over gradients in place of those that no batch brought. */
  fill(gradients: Tensor[]): void;
  dispose(): void;
}

export function createStepWindow(ops: Ops): StepWindow {
  const counts = { index: -1, batches: 0, tokens: 0, anchors: 0, flops: 0 };
  let gradients: readonly Tensor[] = [];
  let matches: BlockMatches | null = null;
  let [loss, divisor] = [0, 0];
  return {
    counts,
    get gradients() {
      return gradients;
    },
    get loss() {
      return loss;
    },
    get divisor() {
      return divisor;
    },
    get matches() {
      return matches;
    },
    open({ index, tokens, anchors }) {
      counts.index = index;
      counts.batches++;
      counts.tokens += tokens;
      counts.anchors += anchors;
    },
    add(evaluated) {
      loss += evaluated.loss;
      divisor += evaluated.divisor;
      counts.flops += evaluated.flops;
      matches = matches === null ? evaluated.matches : addMatches(matches, evaluated.matches);
      if (gradients.length === 0) {
        gradients = evaluated.gradients;
        return;
      }
      for (const [i, sum] of gradients.entries()) {
        ops.addInPlace(sum, evaluated.gradients[i]!);
        evaluated.gradients[i]!.dispose();
      }
    },
    fill(made) {
      gradients = made;
    },
    dispose() {
      for (const gradient of gradients) gradient.dispose();
    },
  };
}
