import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { writeSafetensors } from "@dflash/safetensors";
import type { PackedHiddenStates } from "../hiddenStates.ts";
import { hiddenStateFile, holdsTokens, tensorNames } from "./hiddenStateFile.ts";
import { readShards } from "./hiddenStateShards.ts";

/** Where hidden states go. */
export interface HiddenStateWriterOptions {
  /** Folder that the files go to. */
  readonly dir: string;
  /** Captured decoder layers, noted in each file. */
  readonly layerIds: readonly number[];
  /** Records a file; 1 unless given, in files named after them as vLLM and speculators have it. More go into numbered shards. */
  readonly recordsPerFile?: number;
}

/** Writes hidden states to files. */
export interface HiddenStateWriter {
  /**
   * Whether a record's hidden states were there, whole, when the writer was made.
   *
   * @throws {Error} One line with the file, when it holds other layers, or other tokens than these.
   */
  has(record: number, ids: Int32Array): Promise<boolean>;
  /**
   * Writes each row of a batch: `token_ids` and, as bfloat16, `hidden_states` with the last layer's output behind the captured
   * ones. A file comes to be at once, when all its records are there. The hidden states stay the caller's.
   *
   * @throws {Error} When the batch has no `records` or was captured without `last`.
   */
  write(states: PackedHiddenStates): Promise<void>;
  /** Writes the last file, however few its records are. */
  close(): Promise<void>;
}

type Tensors = Parameters<typeof writeSafetensors>[1];

/** Makes a writer of hidden states, which finds out what a folder holds already. No other may write there meanwhile. */
export async function createHiddenStateWriter(options: HiddenStateWriterOptions): Promise<HiddenStateWriter> {
  const { dir, layerIds, recordsPerFile = 1 } = options;
  await removeTemporaries(dir);
  const shards = await readShards(dir);
  const metadata = { format: "pt", layer_ids: layerIds.join() };
  let kept: Tensors = {};
  let count = 0;

  async function flush(): Promise<void> {
    if (count === 0) return;
    await writeSafetensors(shards.free(), kept, metadata);
    kept = {};
    count = 0;
  }

  return {
    has: (record, ids) => holdsTokens(shards.place(record), layerIds, ids),
    async write({ index, ids, rowStarts, records, features, last }) {
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
        const [idsName, statesName] = tensorNames(recordsPerFile === 1 ? null : record);
        const data = BigInt64Array.from(ids.subarray(start, stop), (id) => BigInt(id));
        const shape = [stop - start, layerIds.length + 1, lastWidth];
        const tensors: Tensors = {
          [idsName]: { dtype: "I64", shape: [stop - start], data },
          [statesName]: { dtype: "BF16", shape, data: states },
        };
        if (recordsPerFile === 1) await writeSafetensors(hiddenStateFile(dir, record), tensors, metadata);
        else {
          Object.assign(kept, tensors);
          if (++count === recordsPerFile) await flush();
        }
      }
    },
    close: flush,
  };
}

/** Removes what a writer that was killed left behind, which may be as large as a shard. */
async function removeTemporaries(dir: string): Promise<void> {
  const names = await readdir(dir).catch(() => []);
  const left = names.filter((name) => /^\.hs_\w+\.safetensors\.\w+\.tmp$/.test(name));
  await Promise.all(left.map((name) => rm(join(dir, name), { force: true })));
}
