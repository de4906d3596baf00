import { mkdtemp, readdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startEngine } from "@dflash/engine";
import { createOps, type Ops } from "@dflash/ops";
import { bfloat16ToFloat32, float32ToBfloat16, openSafetensors, writeSafetensors } from "@dflash/safetensors";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import linearTarget from "../linearTarget.test-support.ts";
import { createTargetForwardLoop } from "../loop/targetForwardLoop.ts";
import type { TargetModel } from "../targetModel.ts";
import type { TokenBatch } from "../tokenBatch.ts";
import { openHiddenStateFiles, type HiddenStateFilesOptions } from "./openHiddenStateFiles.ts";
import { createHiddenStateWriter, type HiddenStateWriter } from "./createHiddenStateWriter.ts";

const layerIds = [0, 2];

/** One batch of two rows: records 7 and 3, whose last two tokens are supervised. */
const batch: TokenBatch = {
  index: 0,
  ids: Int32Array.of(10, 11, 12, 13, 14, 90, 91, 92),
  lossMask: Uint8Array.of(0, 0, 0, 1, 1, 0, 1, 1),
  rowStarts: Int32Array.of(0, 5, 8),
  records: Int32Array.of(7, 3),
};

async function* batches(...all: TokenBatch[]): AsyncGenerator<TokenBatch> {
  yield* all;
}

const rounded = (...values: number[]): Float32Array => bfloat16ToFloat32(float32ToBfloat16(Float32Array.from(values)));
/** Features of tokens whose ids the linear target has seen. */
const features = (...ids: number[]): Float32Array => rounded(...ids.flatMap((id) => [id, -id, 3 * id, -3 * id]));

describe("hidden states in files", () => {
  let ops: Ops;
  let model: TargetModel;
  let dir: string;
  const file = (record: number): string => join(dir, `hs_${record}.safetensors`);
  beforeAll(async () => {
    ops = createOps(await startEngine("cpu"));
    model = linearTarget({}, { ops });
  });
  /** Captures the batches and leaves the writer open. */
  async function capture(recordsPerFile: number, ...all: TokenBatch[]): Promise<HiddenStateWriter> {
    const writer = await createHiddenStateWriter({ dir, layerIds, recordsPerFile });
    const options = { model, ops, batches: batches(...all), layerIds, captureLast: true };
    for await (const states of createTargetForwardLoop(options)) {
      await writer.write(states);
      states.dispose();
    }
    return writer;
  }

  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), "states-"));
    await (await capture(1, batch)).close();
  });
  afterEach(() => rm(dir, { recursive: true }));
  afterAll(() => ops.engine.dispose());

  /** What is left of batches, as [record, features] a row. */
  async function read(
    all: TokenBatch[],
    more: Partial<HiddenStateFilesOptions> = {},
  ): Promise<{ rows: [number, number[]][]; skipped: string[] }> {
    const source = openHiddenStateFiles({ dir, hiddenSize: 2, ...more });
    const skipped: string[] = [];
    source.on("skip", ({ reason }) => skipped.push(reason));
    const rows: [number, number[]][] = [];
    for await (const states of createTargetForwardLoop({ source, ops, batches: batches(...all), layerIds })) {
      const values = await states.features.read();
      for (const [row, record] of states.records!.entries()) {
        const [start, end] = [states.rowStarts[row]!, states.rowStarts[row + 1]!];
        expect(states.ids.subarray(start, end)).toEqual(
          batch.ids.subarray(...([7, 4].includes(record) ? [0, 5] : [5, 8])),
        );
        expect(states.lossMask.subarray(start, end).at(-1)).toBe(1);
        rows.push([record, [...values.subarray(4 * start, 4 * end)]]);
      }
      states.dispose();
      expect(ops.engine.memory().tensors).toBe(4);
    }
    return { rows, skipped };
  }
  const whole: [number, number[]][] = [
    [7, [...features(10, 11, 12, 13, 14)]],
    [3, [...features(90, 91, 92)]],
  ];

  it("are written a record a file as vLLM and speculators do, and read back", async () => {
    const stored = await openSafetensors(file(7));
    expect(stored.tensors.get("token_ids")).toMatchObject({ dtype: "I64", shape: [5] });
    expect(stored.tensors.get("hidden_states")).toMatchObject({ dtype: "BF16", shape: [5, 3, 2] });
    expect(await stored.readInt32("token_ids")).toEqual(Int32Array.of(10, 11, 12, 13, 14));
    const states = await stored.readFloat32("hidden_states");
    expect(states.subarray(0, 6)).toEqual(rounded(10, -10, 30, -30, 30, -30));
    await stored.close();
    expect((await read([batch])).rows).toEqual(whole);
  });

  it("come split by layer too, with the last layer", async () => {
    const source = openHiddenStateFiles({ dir, hiddenSize: 2 });
    const options = { source, ops, batches: batches(batch), layerIds, captureLast: true, layout: "split" } as const;
    for await (const states of createTargetForwardLoop(options)) {
      const [first, second] = await Promise.all(states.features.map((feature) => feature.read()));
      expect(first!.subarray(0, 4)).toEqual(rounded(10, -10, 11, -11));
      expect(second!.subarray(10)).toEqual(rounded(3 * 90, -3 * 90, 3 * 91, -3 * 91, 3 * 92, -3 * 92));
      expect(await states.last!.read()).toEqual(second);
      states.dispose();
    }
  });

  it("fit rows that are cut, and rows that are padded", async () => {
    const cut: TokenBatch = {
      index: 0,
      ids: Int32Array.of(10, 11, 12, 90, 91, 92, 0, 0),
      lossMask: Uint8Array.of(0, 1, 1, 0, 1, 1, 0, 0),
      rowStarts: Int32Array.of(0, 3, 8),
      records: Int32Array.of(7, 3),
    };
    const source = openHiddenStateFiles({ dir, hiddenSize: 2 });
    for await (const states of createTargetForwardLoop({ source, ops, batches: batches(cut), layerIds })) {
      const padded = [...features(10, 11, 12), ...features(90, 91, 92), ...Array<number>(8).fill(0)];
      expect([...(await states.features.read())]).toEqual(padded);
      states.dispose();
    }
  });

  const rowOf: Readonly<Record<number, Int32Array>> = { 7: batch.ids.subarray(0, 5), 3: batch.ids.subarray(5) };

  it("are known to be there, unless they are cut", async () => {
    const writer = await createHiddenStateWriter({ dir, layerIds });
    const has = (record: number): Promise<boolean> => writer.has(record, rowOf[record] ?? Int32Array.of(1));
    expect(await Promise.all([7, 3, 4].map(has))).toEqual([true, true, false]);
    await truncate(file(3), 100);
    expect(await has(3)).toBe(false);
  });

  it.each([1, 2])("are not taken for those of other layers or tokens, %i a file", async (recordsPerFile) => {
    if (recordsPerFile > 1) {
      await Promise.all([7, 3].map((record) => rm(file(record))));
      await (await capture(recordsPerFile, batch)).close();
    }
    const writer = await createHiddenStateWriter({ dir, layerIds });
    // Longer records hold shorter ones.
    expect(await writer.has(3, Int32Array.of(90, 91))).toBe(true);
    await expect(writer.has(3, Int32Array.of(90, 5))).rejects.toThrow(
      "token 1 is 91, expected 5 as in the data; capture",
    );
    await expect(writer.has(3, Int32Array.of(90, 91, 92, 93))).rejects.toThrow("holds 3 tokens, expected 4 as in the");
    await writer.close();
    const other = await createHiddenStateWriter({ dir, layerIds: [1, 2] });
    await expect(other.has(3, rowOf[3]!)).rejects.toThrow("holds layers 0,2, expected 1,2; capture those into another");
  });

  it("leave nothing behind of a writer that was killed", async () => {
    await writeFile(join(dir, ".hs_3.safetensors.0123456789ab.tmp"), "cut");
    await (await createHiddenStateWriter({ dir, layerIds })).close();
    expect((await readdir(dir)).toSorted()).toEqual(["hs_3.safetensors", "hs_7.safetensors"]);
  });

  it("lie together in shards, which are whole files at any time and are gone on with", async () => {
    await Promise.all([7, 3].map((record) => rm(file(record))));
    const more: TokenBatch = { ...batch, records: Int32Array.of(4, 5) };
    const writer = await capture(3, batch, { ...more, index: 1 });
    expect(await readdir(dir)).toEqual(["hs_shard_0.safetensors"]);
    await writer.close();
    expect((await readdir(dir)).toSorted()).toEqual(["hs_shard_0.safetensors", "hs_shard_1.safetensors"]);
    expect((await read([batch])).rows).toEqual(whole);

    const next = await createHiddenStateWriter({ dir, layerIds, recordsPerFile: 3 });
    const rows: typeof rowOf = { ...rowOf, 4: rowOf[7]!, 5: rowOf[3]!, 6: rowOf[3]! };
    const there = await Promise.all([7, 3, 4, 5, 6].map((record) => next.has(record, rows[record]!)));
    expect(there).toEqual([true, true, true, true, false]);
    await next.close();

    // The last shard holds record 5; what is cut is written anew under its number.
    await truncate(join(dir, "hs_shard_1.safetensors"), 100);
    const last = { ...more, index: 0 };
    await expect(read([last])).rejects.toThrow(/hs_shard_1\.safetensors: .*truncated/);
    const { rows: left, skipped } = await read([last], { onBad: "skip" });
    expect(left.map(([record]) => record)).toEqual([4]);
    expect(skipped).toEqual([expect.stringMatching(/hs_5.*no such file; .*; .*hs_shard_1.*truncated/)]);
    await (await capture(3, last)).close();
    expect((await read([last])).rows.map(([record]) => record)).toEqual([4, 5]);
    expect(await readdir(dir)).toHaveLength(2);
  });

  it("that lie in a shard are named with their record when they don't fit", async () => {
    await rm(file(3));
    await (await capture(2, batch)).close();
    const other: TokenBatch = { ...batch, ids: Int32Array.of(10, 11, 12, 13, 14, 90, 91, 5) };
    await expect(read([other])).rejects.toThrow("hs_shard_0.safetensors: record 3: token 2 is 92, expected 5");
  });

  const spoil: [string, string, (path: string) => Promise<void>, Partial<HiddenStateFilesOptions>?][] = [
    ["missing", "no such file; dflash capture --out", (path) => rm(path)],
    ["truncated", "truncated", async (path) => truncate(path, (await readFile(path)).length - 1)],
    [
      "of another number of layers",
      "has shape [3, 2, 2], expected [tokens, 3, 2]: 2 layers and the last",
      rewrite({ shape: [3, 2, 2] }),
    ],
    ["of another width", "has shape [3, 3, 4], expected [tokens, 3, 2]", rewrite({ shape: [3, 3, 4] })],
    ["of another dtype", "hidden_states has dtype F64, expected BF16, F16 or F32", rewrite({ dtype: "F64" })],
    ["not finite", "hidden_states of token 1 holds NaN, expected finite numbers", rewrite({ broken: NaN })],
    ["infinite", "hidden_states of token 1 holds -Infinity, expected", rewrite({ broken: -Infinity })],
    ["of other tokens", "token 1 is 5, expected 91 as in the data", rewrite({ ids: [90, 5, 92] })],
    ["of fewer tokens", "holds 2 tokens, expected 3 as in the data", rewrite({ ids: [90, 91], shape: [2, 3, 2] })],
    ["unlike its ids", "token_ids has shape [4], expected [3] as hidden_states", rewrite({ ids: [90, 91, 92, 93] })],
    [
      "of other layers",
      "holds layers 1,2, expected 0,2; capture those into another folder",
      rewrite({ layers: "1,2" }),
    ],
  ];

  it.each(spoil)("that are %s are named, or their row left out", async (_, message, change) => {
    await change(file(3));
    const failing = read([batch]);
    await expect(failing).rejects.toThrow(file(3));
    await expect(read([batch])).rejects.toThrow(message);
    const { rows, skipped } = await read([batch, { ...batch, index: 1 }], { onBad: "skip" });
    expect(rows).toEqual([whole[0], whole[0]]);
    expect(skipped).toEqual([expect.stringContaining(message), expect.stringContaining(message)]);
  });

  it("pass over a batch without any good row, and say so in place of passing over every epoch", async () => {
    await rm(file(3));
    await rm(file(7));
    expect((await read([batch], { onBad: "skip" })).rows).toEqual([]);
    const epochs = [batch, { ...batch, index: 1 }];
    await expect(read(epochs, { onBad: "skip" })).rejects.toThrow(
      /: none of 2 records can be used \(one of them: .*hs_\d\.safetensors: no such file/,
    );
  });

  it("need batches that know their records, and the layers that were captured", async () => {
    const { records: _, ...nameless } = batch;
    await expect(read([nameless])).rejects.toThrow("batch 0: doesn't say which records its rows are of");
    const source = openHiddenStateFiles({ dir, hiddenSize: 2 });
    const loop = createTargetForwardLoop({ source, ops, batches: batches(batch), layerIds: [1, 2] });
    await expect(loop[Symbol.asyncIterator]().next()).rejects.toThrow("holds layers 0,2, expected 1,2");
  });
});

/** Writes another file of record 3. */
function rewrite(change: {
  ids?: number[];
  shape?: number[];
  dtype?: "F64";
  broken?: number;
  layers?: string;
}): (path: string) => Promise<void> {
  const { ids = [90, 91, 92], shape = [3, 3, 2], dtype = "BF16", broken, layers = "0,2" } = change;
  const size = shape.reduce((product, extent) => product * extent, 1);
  const values = dtype === "F64" ? new Float64Array(size) : new Float32Array(size);
  if (broken !== undefined) values[9] = broken;
  return (path) =>
    writeSafetensors(
      path,
      {
        token_ids: { dtype: "I64", shape: [ids.length], data: BigInt64Array.from(ids, (id) => BigInt(id)) },
        hidden_states: { dtype, shape, data: values },
      },
      { layer_ids: layers },
    );
}
