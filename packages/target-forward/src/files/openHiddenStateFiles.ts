import { createGuardedEmitter } from "@dflash/timer";
import type { HiddenStateSource, HostMatrix } from "../hostHiddenStates.ts";
import type { TokenBatch } from "../tokenBatch.ts";
import {
  readHiddenStates,
  shownPlace,
  tokenDifference,
  type HiddenStateLayout,
  type HiddenStateRecord,
} from "./hiddenStateFile.ts";
import { readShards, type HiddenStateShards } from "./hiddenStateShards.ts";

/** Where hidden states lie, and what to do about those that are no good. */
export interface HiddenStateFilesOptions {
  /** Folder of the files. */
  readonly dir: string;
  /** Of the target, H. */
  readonly hiddenSize: number;
  /** `stop` (unless given) ends with the first bad file; `skip` leaves its row out. */
  readonly onBad?: "stop" | "skip";
}

/** Events of the files with their payload. */
export interface HiddenStateFilesEvents {
  /** A record was left out, and why, in one line. */
  skip: { record: number; reason: string };
}

/** Hidden states of records on disk. */
export interface HiddenStateFiles extends HiddenStateSource {
  /** Subscribes to an event. A listener that throws, or rejects, is reported once. */
  on<Name extends keyof HiddenStateFilesEvents>(
    event: Name,
    listener: (payload: HiddenStateFilesEvents[Name]) => unknown,
  ): HiddenStateFiles;
}

/** A row of a batch with its hidden states. */
interface Row extends HiddenStateRecord {
  /** Its tokens in the batch. */
  readonly start: number;
  readonly end: number;
}

/**
 * Hidden states from files that `dflash capture`, vLLM or speculators wrote, one a record or in shards: batches need `records`. A
 * row may be a part of its record from the beginning on, and padded behind it; padding gets zeros.
 */
export function openHiddenStateFiles(options: HiddenStateFilesOptions): HiddenStateFiles {
  const { dir, hiddenSize, onBad = "stop" } = options;
  const events = createGuardedEmitter<HiddenStateFilesEvents>("hidden-state files");
  let finding: Promise<HiddenStateShards> | undefined;
  /** Records of batches that had no good row. */
  const bad = new Set<number>();
  let anyGood = false;
  /** Why the last record was left out. */
  let reason = "";
  let earlier: Promise<unknown> = Promise.resolve();

  async function findShards(): Promise<HiddenStateShards> {
    const shards = await (finding ??= readShards(dir));
    const [broken] = shards.broken;
    if (broken !== undefined && onBad === "stop") throw new Error(broken);
    return shards;
  }

  async function readRow(
    { ids, lossMask, rowStarts, records }: TokenBatch,
    row: number,
    layout: HiddenStateLayout,
  ): Promise<Row | null> {
    const [start, end] = [rowStarts[row]!, rowStarts[row + 1]!];
    const record = records![row]!;
    const shards = await findShards();
    const place = shards.place(record);
    try {
      const found = await readHiddenStates(place, layout);
      // Tokens behind the last supervised one, padding among them, are context of nothing and may differ.
      const length = lossMask.subarray(start, end).lastIndexOf(1) + 1;
      const difference = tokenDifference(found.ids, ids.subarray(start, start + length));
      if (difference !== null) throw new Error(`${shownPlace(place)}: ${difference}`);
      anyGood = true;
      return { ...found, start, end };
    } catch (error) {
      if (onBad === "stop") throw error;
      // What is in no file may have been in a shard that can't be read.
      const further = place.record === null ? shards.broken.slice(0, 1) : [];
      reason = [error instanceof Error ? error.message : String(error), ...further].join("; ");
      events.emit("skip", { record, reason });
      return null;
    }
  }

  /** Without any good record, epoch after epoch would be passed over. */
  function passOver(records: Int32Array): void {
    if (!anyGood && records.every((record) => bad.has(record)))
      throw new Error(`${dir}: none of ${bad.size} records can be used (one of them: ${reason})`);
    for (const record of records) bad.add(record);
  }

  const files: HiddenStateFiles = {
    async states(batch, { captureLast = false, layout, layerIds }) {
      if (!batch.records) throw new Error(`batch ${batch.index}: doesn't say which records its rows are of`);
      const reading = Promise.all(Array.from(batch.records, (_, row) => readRow(batch, row, { layerIds, hiddenSize })));
      const before = earlier;
      earlier = Promise.allSettled([before, reading]).then(() => undefined);
      const read = await reading;
      const rows = read.filter((row) => row !== null);
      if (rows.length === 0) {
        await before;
        passOver(batch.records);
        return null;
      }
      const kept = rows.length === read.length ? batch : keepRows(batch, rows);
      const K = layerIds.length;
      const matrix = (slot: number, slots: number): HostMatrix => ({
        values: gather(rows, { from: slot * hiddenSize, width: slots * hiddenSize, stride: (K + 1) * hiddenSize }),
        width: slots * hiddenSize,
      });
      return {
        batch: kept,
        features: layout === "joined" ? [matrix(0, K)] : layerIds.map((_, slot) => matrix(slot, 1)),
        last: captureLast ? matrix(K, 1) : null,
      };
    },
    on(event, listener) {
      events.on(event, listener);
      return files;
    },
  };
  return files;
}

/** Columns `from` ≤ c < `from + width` of the rows' states, whose tokens are `stride` wide, one row behind the other. */
function gather(
  rows: readonly Row[],
  { from, width, stride }: { readonly from: number; readonly width: number; readonly stride: number },
): Float32Array {
  const out = new Float32Array(rows.reduce((sum, { start, end }) => sum + end - start, 0) * width);
  let at = 0;
  for (const { start, end, ids, states } of rows) {
    for (let token = 0; token < Math.min(ids.length, end - start); token++) {
      const begin = token * stride + from;
      out.set(states.subarray(begin, begin + width), at + token * width);
    }
    at += (end - start) * width;
  }
  return out;
}

/** The batch with these of its rows. */
function keepRows({ index, ids, lossMask, rowStarts, records }: TokenBatch, rows: readonly Row[]): TokenBatch {
  const starts = new Int32Array(rows.length + 1);
  for (const [r, { start, end }] of rows.entries()) starts[r + 1] = starts[r]! + end - start;
  const kept = { ids: new Int32Array(starts.at(-1)!), lossMask: new Uint8Array(starts.at(-1)!) };
  for (const [r, { start, end }] of rows.entries()) {
    kept.ids.set(ids.subarray(start, end), starts[r]);
    kept.lossMask.set(lossMask.subarray(start, end), starts[r]);
  }
  const numbers = rows.map(({ start }) => records![rowStarts.indexOf(start)]!);
  return { index, ...kept, rowStarts: starts, records: Int32Array.from(numbers) };
}
