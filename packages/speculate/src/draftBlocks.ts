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
  const blocks = new Int32Array(sequences.length * blockSize).fill(drafter.config.maskTokenId);
  for (const [row, { last }] of sequences.entries()) blocks[row * blockSize] = last;
  const noise = ops.embedding(head.embedTokens, blocks);
  const hidden = drafter.draft(
    sequences.map(({ drafterCache }) => drafterCache!),
    noise,
  );
  const slots = Int32Array.from(blocks.keys()).filter((slot) => slot % blockSize > 0);
  const drafted = ops.scope(() => ops.argmax(ops.linear(ops.gather(hidden, slots), head.lmHead)));
  const ids = Int32Array.from(await drafted.read());
  for (const tensor of [noise, hidden, drafted]) tensor.dispose();
  return sequences.map((_, row) => ids.slice(row * proposed, (row + 1) * proposed));
}
