import { mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { arrayTypes, dtypeNames, isDtype } from "./dtype.ts";
import { openSafetensors, type TensorData } from "./openSafetensors.ts";
import { writeSafetensors } from "./writeSafetensors.ts";

let folder: string;
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), "safetensors-"))));
afterAll(() => rm(folder, { recursive: true }));

/** Tensors of every dtype and rank with arbitrary bits. */
const tensor: fc.Arbitrary<TensorData> = fc
  .tuple(fc.constantFrom(...dtypeNames.filter(isDtype)), fc.array(fc.nat(4), { maxLength: 4 }))
  .chain(([dtype, shape]) => {
    const byteLength = shape.reduce((product, size) => product * size, arrayTypes[dtype].BYTES_PER_ELEMENT);
    return fc
      .uint8Array({ minLength: byteLength, maxLength: byteLength })
      .map((bytes) => ({ dtype, shape, data: new arrayTypes[dtype](Uint8Array.from(bytes).buffer) }));
  });

const byte = (value: number) => ({ a: { dtype: "U8", shape: [], data: new Uint8Array([value]) } }) as const;

const bytesOf = ({ data }: TensorData) => Buffer.from(data.buffer, data.byteOffset, data.byteLength);

describe("writeSafetensors", () => {
  it("writes what openSafetensors reads back, bit for bit", async () => {
    const path = join(folder, "round-trip.safetensors");
    const name = fc.string({ unit: "grapheme" }).filter((text) => text !== "__metadata__");
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(name, tensor, { maxKeys: 6 }),
        fc.dictionary(fc.string(), fc.string()),
        async (tensors, metadata) => {
          await writeSafetensors(path, tensors, metadata);
          const file = await openSafetensors(path);
          expect(file.metadata).toEqual({ ...metadata });
          expect([...file.tensors.keys()].toSorted()).toEqual(Object.keys(tensors).toSorted());
          for (const [key, written] of Object.entries(tensors)) {
            const read = await file.read(key);
            expect({ dtype: read.dtype, shape: read.shape }).toEqual({ dtype: written.dtype, shape: written.shape });
            expect(bytesOf(read).equals(bytesOf(written))).toBe(true);
          }
          await file.close();
        },
      ),
    );
  });

  it("rounds float32 values to BF16 and F16, over chunk borders too", async () => {
    const path = join(folder, "rounded.safetensors");
    const length = 2 ** 20 + 3;
    const data = Float32Array.from({ length }, (_, i) => 1 + i * 2 ** -12);
    await writeSafetensors(path, {
      brain: { dtype: "BF16", shape: [length], data },
      half: { dtype: "F16", shape: [length], data },
    });
    const file = await openSafetensors(path);
    // The significand holds 8 bits in BF16 and 11 in F16; all these values are normal.
    const within = (values: Float32Array, bits: number) =>
      values.every((value, i) => Math.abs(value - data[i]!) <= 2 ** (Math.floor(Math.log2(data[i]!)) - bits));
    expect(within(await file.readFloat32("brain"), 8)).toBe(true);
    expect(within(await file.readFloat32("half"), 11)).toBe(true);
    await file.close();
  });

  it("leaves the file that stood there and nothing else when it fails", async () => {
    const target = join(folder, "taken");
    await mkdir(join(target, "full"), { recursive: true });
    const tensors = { a: { dtype: "U8", shape: [1], data: new Uint8Array(1) } } as const;
    await expect(writeSafetensors(target, tensors)).rejects.toThrow(/^.*taken: cannot be written \(E[A-Z]+\).*$/);
    expect(await readdir(target)).toEqual(["full"]);
    expect((await readdir(folder)).filter((name) => name.endsWith(".tmp"))).toEqual([]);
    await expect(writeSafetensors(join(folder, "no", "where"), tensors)).rejects.toThrow(
      "where: cannot be written (ENOENT)",
    );
  });

  it("replaces a file that is being read without disturbing the reader", async () => {
    const path = join(folder, "replaced.safetensors");
    await writeSafetensors(path, byte(1));
    const before = await openSafetensors(path);
    await writeSafetensors(path, byte(2));
    const after = await openSafetensors(path);
    expect([(await before.read("a")).data[0], (await after.read("a")).data[0]]).toEqual([1, 2]);
    await Promise.all([before.close(), after.close()]);
  });

  it("pads the header with spaces so that the data starts at a multiple of eight", async () => {
    const path = join(folder, "padded.safetensors");
    await writeSafetensors(path, { ab: { dtype: "U8", shape: [1], data: new Uint8Array([9]) } });
    const bytes = await readFile(path);
    expect(bytes.subarray(8, -1).toString()).toBe('{"ab":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}  ');
    expect(bytes.readBigUInt64LE()).toBe(56n);
  });

  it.each<[string, string, TensorData, string]>([
    [
      "another array than the dtype's",
      "x",
      { dtype: "I32", shape: [1], data: new Float32Array(1) },
      "data is a Float32Array, expected a Int32Array for I32",
    ],
    [
      "a shape of another size",
      "x",
      { dtype: "U8", shape: [2, 2], data: new Uint8Array(3) },
      "shape is [2, 2], expected integers whose product is the 3 elements",
    ],
    [
      "a fractional shape",
      "x",
      { dtype: "U8", shape: [0.5, 2], data: new Uint8Array(1) },
      "shape is [0.5, 2], expected integers",
    ],
    [
      "the reserved name",
      "__metadata__",
      { dtype: "U8", shape: [], data: new Uint8Array(1) },
      "the format reserves this name",
    ],
  ])("refuses %s", async (_, name, bad, message) => {
    const path = join(folder, "bad.safetensors");
    await expect(writeSafetensors(path, { [name]: bad })).rejects.toThrow(`${path}: tensor "${name}": ${message}`);
  });

  it("refuses a dtype that the format doesn't know", async () => {
    const path = join(folder, "bad.safetensors");
    // @ts-expect-error For callers without types.
    const tensors: Record<string, TensorData> = { x: { dtype: "f32", shape: [1], data: new Float32Array(1) } };
    await expect(writeSafetensors(path, tensors)).rejects.toThrow(
      `${path}: tensor "x": dtype is f32, expected one of BOOL`,
    );
  });
});
