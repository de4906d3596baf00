import { access } from "node:fs/promises";
import { openSafetensors, writeSafetensors } from "@dflash/safetensors";
import type { PackedHiddenStates } from "../hiddenStates.ts";
import { hiddenStateFile } from "./hiddenStateFile.ts";

/** Where hidden states go. */
export interface WriteHiddenStatesOptions {
  /** Folder that the files go to. */
  readonly dir: string;
  /** Captured decoder layers, noted in each file. */
  readonly layerIds: readonly number[];
}

/**
 * Writes each row of a batch to the file of its record, atomically: `token_ids` and, as bfloat16, `hidden_states` with the last
 * layer's output behind the captured ones, as vLLM and speculators do. The hidden states stay the caller's.
 *
 * @throws {Error} When the batch has no `records` or was captured without `last`.
 */
export async function writeHiddenStates(
  { dir, layerIds }: WriteHiddenStatesOptions,
  { index, ids, rowStarts, records, features, last }: PackedHiddenStates,
): Promise<void> {
  if (!records || !last) throw new Error(`batch ${index}: has no records or no last layer, which its files need`);
  const [joined, end] = await Promise.all([features.read(), last.read()]);
  const [width, lastWidth] = [features.shape[1]!, last.shape[1]!];
  for (const [row, record] of records.entries()) {
    const [start, stop] = [rowStarts[row]!, rowStarts[row + 1]!];
    const states = new Float32Array((stop - start) * (width + lastWidth));
    for (let token = start; token < stop; token++) {
      const at = (token - start) * (width + lastWidth);
      states.set(joined.subarray(token * width, (token + 1) * width), at);
      states.set(end.subarray(token * lastWidth, (token + 1) * lastWidth), at + width);
    }
    const shape = [stop - start, layerIds.length + 1, lastWidth];
    await writeSafetensors(
      hiddenStateFile(dir, record),
      {
        token_ids: {
          dtype: "I64",
          shape: [stop - start],
          data: BigInt64Array.from(ids.subarray(start, stop), (id) => BigInt(id)),
        },
        hidden_states: { dtype: "BF16", shape, data: states },
      },
      { format: "pt", layer_ids: layerIds.join() },
    );
  }
}

/** Whether a record's hidden states are there already, whole. */
export async function hasHiddenStates(dir: string, record: number): Promise<boolean> {
  const path = hiddenStateFile(dir, record);
  const exists = await access(path).then(
    () => true,
    () => false,
  );
  if (!exists) return false;
  // Its header is checked against its size.
  const file = await openSafetensors(path).catch(() => null);
  await file?.close();
  return file !== null;
}
