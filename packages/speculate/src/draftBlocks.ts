import type { DFlashDrafter } from "@dflash/drafter";
import type { Ops } from "@dflash/ops";
import type { TargetHead } from "@dflash/target-forward";
import type { SequenceState } from "./sequence.ts";

export interface DraftOptions {
  readonly ops: Ops;
  readonly head: TargetHead;
  /** Null drafts nothing. */
  readonly drafter: DFlashDrafter | null;
  /** Slots of a block, that of the last token included. */
  readonly blockSize: number;
}

/** The tokens that the drafter proposes behind each sequence's last one, block size − 1 each: always the likeliest. */
export async function draftBlocks(
  { ops, head, drafter, blockSize }: DraftOptions,
  sequences: readonly SequenceState[],
): Promise<Int32Array[]> {
  const proposed = blockSize - 1;
  if (drafter === null || proposed === 0) return sequences.map(() => new Int32Array());
  const drafted = ops.scope(() => {
    const hidden = sequences.map(({ last, drafterCache }) => {
      const block = new Int32Array(blockSize).fill(drafter.config.maskTokenId);
      block[0] = last;
      return ops.slice(drafterCache!.draft(ops.embedding(head.embedTokens, block)), 1, blockSize);
    });
    return ops.argmax(ops.linear(hidden.length === 1 ? hidden[0]! : ops.concat(hidden, 0), head.lmHead));
  });
  const ids = Int32Array.from(await drafted.read());
  drafted.dispose();
  return sequences.map((_, row) => ids.slice(row * proposed, (row + 1) * proposed));
}
