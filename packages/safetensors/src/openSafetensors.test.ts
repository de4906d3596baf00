import { mkdtemp, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openSafetensors } from "./openSafetensors.ts";
import { writeSafetensors } from "./writeSafetensors.ts";

let folder: string;
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), "safetensors-"))));
afterAll(() => rm(folder, { recursive: true }));

/** Writes a file with this header, padded so that the data starts at byte 128, and so many zero bytes of data. */
async function withHeader(header: unknown, dataBytes = 0): Promise<string> {
  const text = Buffer.from(typeof header === "string" ? header : JSON.stringify(header).padEnd(120));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  const path = join(folder, "hand-made.safetensors");
  await writeFile(path, Buffer.concat([length, text, Buffer.alloc(dataBytes)]));
  return path;
}

/** Reads every tensor: whatever the header says, each is as long as it promised. */
async function readAll(path: string): Promise<string> {
  const file = await openSafetensors(path);
  for (const [name, { byteLength }] of file.tensors) {
    expect((await file.read(name)).data.byteLength).toBe(byteLength);
  }
  await file.close();
  return "all read";
}

const f32 = (shape: unknown, data_offsets: unknown) => ({ x: { dtype: "F32", shape, data_offsets } });

describe("openSafetensors", () => {
  it("reads the tensors, their places and the metadata of a file made by hand", async () => {
    const header = {
      __metadata__: { format: "pt" },
      b: { dtype: "I32", shape: [2, 1], data_offsets: [4, 12] },
      a: { dtype: "BF16", shape: [2], data_offsets: [0, 4] },
    };
    const path = await withHeader(header, 12);
    const bytes = await readFile(path);
    bytes.writeUInt16LE(0x3f80, bytes.length - 12);
    bytes.writeUInt16LE(0xc000, bytes.length - 10);
    bytes.writeInt32LE(-7, bytes.length - 8);
    await writeFile(path, bytes);

    const file = await openSafetensors(path);
    expect(file.metadata).toEqual({ format: "pt" });
    expect(file.tensors.get("b")).toEqual({
      dtype: "I32",
      shape: [2, 1],
      file: path,
      byteOffset: bytes.length - 8,
      byteLength: 8,
    });
    expect(await file.read("a")).toEqual({ dtype: "BF16", shape: [2], data: new Uint16Array([0x3f80, 0xc000]) });
    expect(await file.readFloat32("a")).toEqual(new Float32Array([1, -2]));
    expect(await file.readInt32("b")).toEqual(new Int32Array([-7, 0]));
    await file.close();
  });

  it("converts floats to float32 and integers to int32, and refuses what doesn't fit", async () => {
    const path = join(folder, "types.safetensors");
    await writeSafetensors(path, {
      half: { dtype: "F16", shape: [2], data: new Uint16Array([0x3c00, 0x7bff]) },
      long: { dtype: "I64", shape: [3], data: new BigInt64Array([1n, -1n, 151_669n]) },
      longer: { dtype: "I64", shape: [2], data: new BigInt64Array([0n, 2n ** 31n]) },
      mask: { dtype: "BOOL", shape: [2], data: new Uint8Array([0, 1]) },
      empty: { dtype: "BF16", shape: [0, 4], data: new Uint16Array(0) },
    });
    const file = await openSafetensors(path);
    expect(await file.readFloat32("half")).toEqual(new Float32Array([1, 65_504]));
    expect(await file.readFloat32("empty")).toEqual(new Float32Array(0));
    expect(await file.readInt32("long")).toEqual(new Int32Array([1, -1, 151_669]));
    expect(await file.readInt32("mask")).toEqual(new Int32Array([0, 1]));
    await expect(file.readInt32("longer")).rejects.toThrow(
      `${path}: tensor "longer": element 1 is 2147483648, expected a 32-bit integer`,
    );
    await expect(file.readInt32("half")).rejects.toThrow(
      `${path}: tensor "half": dtype is F16, expected an integer type`,
    );
    await expect(file.readFloat32("long")).rejects.toThrow(`${path}: tensor "long": dtype is I64, expected F32`);
    await expect(file.read("none")).rejects.toThrow(`${path}: no tensor "none" among its 5`);
    await file.close();
  });

  it.each<[string, unknown, number, string]>([
    ["no JSON", "{", 0, "the header is not JSON in UTF-8"],
    ["an array as header", [], 0, "expected a JSON object of tensors"],
    ["an entry that is no object", { x: 1 }, 0, 'tensor "x": its entry is 1'],
    [
      "an unknown dtype",
      { x: { dtype: "F4", shape: [], data_offsets: [0, 1] } },
      1,
      'tensor "x": dtype is F4, expected',
    ],
    ["a name of Object.prototype as dtype", { x: { dtype: "toString" } }, 1, 'tensor "x": dtype is toString, expected'],
    ["no shape", { x: { dtype: "F32" } }, 4, 'tensor "x": shape is missing, expected an array'],
    ["a negative size", f32([-1], [0, 4]), 4, 'tensor "x": shape is [-1], expected an array'],
    ["a fractional size", f32([0.5], [0, 2]), 2, 'tensor "x": shape is [0.5], expected an array'],
    ["offsets in reverse", f32([1], [4, 0]), 4, 'tensor "x": data_offsets is [4,0], expected [begin, end]'],
    ["three offsets", f32([1], [0, 4, 4]), 4, 'tensor "x": data_offsets is [0,4,4], expected [begin, end]'],
    ["an offset of 1e300", f32([1], [0, 1e300]), 4, 'tensor "x": data_offsets is [0,1e+300], expected [begin, end]'],
    ["a shape that doesn't fit", f32([3], [0, 8]), 8, 'tensor "x": data_offsets hold 8 bytes, expected 12 for F32 [3]'],
    ["a shape that overflows", f32([2 ** 40, 2 ** 40], [0, 0]), 0, 'tensor "x": data_offsets hold 0 bytes, expected'],
    ["data past the end", f32([2], [0, 8]), 4, "the file is truncated"],
    [
      "a gap",
      f32([1], [4, 8]),
      8,
      'tensor "x": its data begins at byte 132 and leaves a gap before it, expected byte 128',
    ],
    [
      "an overlap",
      {
        x: { dtype: "U8", shape: [4], data_offsets: [0, 4] },
        y: { dtype: "U8", shape: [4], data_offsets: [2, 6] },
      },
      6,
      'tensor "y": its data begins at byte 130 and overlaps the tensor before it, expected byte 132',
    ],
    [
      "bytes that belong to no tensor",
      f32([1], [0, 4]),
      9,
      "the tensors end at byte 132, expected 137, the end of the file",
    ],
    [
      "metadata that is no string",
      { __metadata__: { a: 1 } },
      0,
      '__metadata__ is {"a":1}, expected an object of strings',
    ],
    [
      "a tensor twice",
      '{"x":{"dtype":"U8","shape":[],"data_offsets":[0,1]},"x":{"dtype":"U8","shape":[],"data_offsets":[0,1]}}',
      1,
      'the header has the key "x" twice, expected once',
    ],
  ])("refuses %s", async (_, header, dataBytes, message) => {
    const path = await withHeader(header, dataBytes);
    await expect(openSafetensors(path)).rejects.toThrow(message);
    await expect(openSafetensors(path)).rejects.toThrow(new RegExp(`^${path}: .*$`));
  });

  it("refuses a file that isn't there, a folder, and one too short", async () => {
    await expect(openSafetensors(join(folder, "none"))).rejects.toThrow("none: cannot be opened (ENOENT)");
    await expect(openSafetensors(folder)).rejects.toThrow("not a regular file");
    const path = join(folder, "short.safetensors");
    await writeFile(path, "1234567");
    await expect(openSafetensors(path)).rejects.toThrow(`${path}: 7 bytes long`);
  });

  it("refuses a header longer than the file or than the format's limit, without allocating it", async () => {
    const path = join(folder, "long.safetensors");
    const bytes = Buffer.alloc(16);
    bytes.writeBigUInt64LE(9n);
    await writeFile(path, bytes);
    await expect(openSafetensors(path)).rejects.toThrow(
      `${path}: header of 9 bytes in a file of 16; the file is truncated`,
    );
    bytes.writeBigUInt64LE(2n ** 63n);
    await writeFile(path, bytes);
    await expect(openSafetensors(path)).rejects.toThrow(
      `${path}: header of 9223372036854776000 bytes, expected at most`,
    );
  });

  it("says where the data ends when the file is cut after it was opened", async () => {
    const path = await withHeader(f32([4], [0, 16]), 16);
    const file = await openSafetensors(path);
    await truncate(path, file.tensors.get("x")!.byteOffset + 6);
    await expect(file.read("x")).rejects.toThrow(`${path}: ends at byte`);
    await file.close();
  });

  it("survives any corruption: one line that names the file, or tensors that lie inside it", async () => {
    const path = join(folder, "corrupt.safetensors");
    await writeSafetensors(path, {
      weight: { dtype: "F32", shape: [2, 3], data: new Float32Array(6) },
      ids: { dtype: "I64", shape: [2], data: new BigInt64Array(2) },
    });
    const good = await readFile(path);
    const edit = fc.record({ at: fc.nat(good.length - 1), byte: fc.nat(255) });
    const cut = fc.nat(good.length);
    await fc.assert(
      fc.asyncProperty(fc.array(edit, { maxLength: 4 }), cut, async (edits, length) => {
        const bytes = Buffer.from(good);
        for (const { at, byte } of edits) bytes[at] = byte;
        await writeFile(path, edits.length > 0 ? bytes : bytes.subarray(0, length));
        const outcome = await readAll(path).catch(String);
        expect(outcome).toMatch(new RegExp(`^(Error: ${path}: .+|all read)$`));
      }),
      { numRuns: 500 },
    );
  });
});
