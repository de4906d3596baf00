import { copyFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openCheckpoint } from "./openCheckpoint.ts";
import { writeSafetensors } from "./writeSafetensors.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "checkpoint-"));
  await writeSafetensors(
    join(folder, "model-1.safetensors"),
    { a: { dtype: "F32", shape: [2], data: new Float32Array([1, 2]) } },
    { format: "pt" },
  );
  await writeSafetensors(join(folder, "model-2.safetensors"), {
    b: { dtype: "I32", shape: [1], data: new Int32Array([3]) },
    unlisted: { dtype: "U8", shape: [], data: new Uint8Array([4]) },
  });
});
afterEach(() => rm(folder, { recursive: true }));

const writeIndex = (weightMap: unknown) =>
  writeFile(join(folder, "model.safetensors.index.json"), JSON.stringify({ metadata: {}, weight_map: weightMap }));

describe("openCheckpoint", () => {
  it("reads the tensors that the index lists from their shards", async () => {
    await writeIndex({ b: "model-2.safetensors", a: "model-1.safetensors" });
    const checkpoint = await openCheckpoint(folder);
    expect([...checkpoint.tensors.keys()]).toEqual(["b", "a"]);
    expect(checkpoint.metadata).toEqual({ format: "pt" });
    expect(checkpoint.tensors.get("b")?.file).toBe(join(folder, "model-2.safetensors"));
    expect(await checkpoint.readFloat32("a")).toEqual(new Float32Array([1, 2]));
    expect(await checkpoint.readInt32("b")).toEqual(new Int32Array([3]));
    await expect(checkpoint.read("unlisted")).rejects.toThrow(
      'model.safetensors.index.json: no tensor "unlisted" among its 2',
    );
    await checkpoint.close();
    await expect(checkpoint.read("a")).rejects.toThrow("file closed");
  });

  it("takes model.safetensors when there is one", async () => {
    await writeIndex({ a: "model-1.safetensors" });
    await copyFile(join(folder, "model-2.safetensors"), join(folder, "model.safetensors"));
    const checkpoint = await openCheckpoint(folder);
    expect([...checkpoint.tensors.keys()].toSorted()).toEqual(["b", "unlisted"]);
    await checkpoint.close();
  });

  it("names the folder that holds no weights", async () => {
    await expect(openCheckpoint(folder)).rejects.toThrow(`${folder}: holds neither model.safetensors nor`);
  });

  it("names the shard that is missing, and the tensor that its shard lacks", async () => {
    await writeIndex({ a: "model-1.safetensors", c: "model-3.safetensors" });
    await expect(openCheckpoint(folder)).rejects.toThrow(
      `${join(folder, "model-3.safetensors")}: cannot be opened (ENOENT)`,
    );
    await writeIndex({ a: "model-2.safetensors" });
    await expect(openCheckpoint(folder)).rejects.toThrow(
      `${join(folder, "model-2.safetensors")}: no tensor "a" among its 2`,
    );
  });

  it.each([
    ["no weight_map", undefined, "weight_map is missing, expected an object"],
    ["an array", ["a"], 'weight_map is ["a"], expected an object'],
    ["a number as file", { a: 1 }, 'tensor "a": its file is 1, expected the name of a .safetensors file'],
    [
      "a path out of the folder",
      { a: "../x.safetensors" },
      'tensor "a": its file is ../x.safetensors, expected the name',
    ],
    [
      "another kind of file",
      { a: "pytorch_model.bin" },
      'tensor "a": its file is pytorch_model.bin, expected the name',
    ],
  ])("refuses an index with %s", async (_, weightMap, message) => {
    await writeIndex(weightMap);
    await expect(openCheckpoint(folder)).rejects.toThrow(`${join(folder, "model.safetensors.index.json")}: ${message}`);
  });

  it.each([
    ["{", "not JSON"],
    ['{"weight_map":{"a":"model-1.safetensors","a":"model-2.safetensors"}}', 'the key "a" stands twice'],
  ])("refuses the index %s", async (text, message) => {
    await writeFile(join(folder, "model.safetensors.index.json"), text);
    await expect(openCheckpoint(folder)).rejects.toThrow(message);
  });
});
