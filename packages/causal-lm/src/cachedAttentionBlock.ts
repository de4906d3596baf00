import type { Tensor } from "@dflash/ops";
import { attend, type AttentionWeights, type ForwardContext, type KeysValues, projectHeads } from "./attentionBlock.ts";

/** What a layer makes of the new tokens. */
export interface CachedAttention {
  /** [T, H] */
  readonly output: Tensor;
  /** Keys and values of each row, its new tokens included. */
  readonly kept: readonly KeysValues[];
}

/**
 * The attention block over new tokens of several rows, behind what each row has kept: keys lie in the order
 * [kept of row 0 | new of row 0 | kept of row 1 | …], as `cachedPlaces` says.
 *
 * @param before Of each row; null where nothing is kept.
 * @param rowStarts Boundaries of the rows among the new tokens.
 */
export function cachedAttentionBlock(
  context: ForwardContext,
  weights: AttentionWeights,
  hidden: Tensor,
  before: readonly (KeysValues | null)[],
  rowStarts: Int32Array,
): CachedAttention {
  const { ops } = context;
  return ops.scope(() => {
    const { query, own } = projectHeads(context, weights, hidden);
    const newOf = (tensor: Tensor, row: number): Tensor =>
      before.length === 1 ? tensor : ops.slice(tensor, rowStarts[row]!, rowStarts[row + 1]!);
    const all = (part: keyof KeysValues): Tensor => {
      const pieces = before.flatMap((kept, row) => [...(kept ? [kept[part]] : []), newOf(own[part], row)]);
      return pieces.length === 1 ? pieces[0]! : ops.concat(pieces, 0);
    };
    const seen = { keys: all("keys"), values: all("values") };
    const output = attend(context, weights, hidden, query, seen);
    let end = 0;
    const kept = before.map((keysValues, row) => {
      const start = end;
      end += (keysValues?.keys.shape[0] ?? 0) + rowStarts[row + 1]! - rowStarts[row]!;
      if (before.length === 1) return seen;
      return { keys: ops.slice(seen.keys, start, end), values: ops.slice(seen.values, start, end) };
    });
    return { output, kept };
  });
}
