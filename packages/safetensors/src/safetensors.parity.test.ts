import { spawnSync } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { float32ToBfloat16 } from "./bfloat16.ts";
import { float16ToFloat32, float32ToFloat16 } from "./float16.ts";
import { openSafetensors, type TensorData } from "./openSafetensors.ts";
import { writeSafetensors } from "./writeSafetensors.ts";

const fixtures = process.env.DFLASH_FIXTURES ?? join(import.meta.dirname, "../../../fixtures");

/** What Python writes, and the shape and sum of each tensor of the given files; in one process, since torch takes seconds to load. */
const oracle = `
import json, sys, torch
from safetensors.torch import load_file, save_file
folder, fixtures, *names = sys.argv[1:]
f = torch.tensor([0.1, -2.5, 3e38, 1e-40, 65520, 1/3])
save_file({"mask": torch.tensor([True, False, True]), "9": torch.tensor([200], dtype=torch.uint8), "half": f.half().view(6, 1),
  "z.weight": f.view(2, 3).clone(), "a.weight": f, "brain": f.bfloat16().view(3, 2), "ids": torch.tensor([-1, 2**40]),
  "10": torch.tensor(7, dtype=torch.int32), "naïve/\\n": torch.zeros(0, dtype=torch.float64)}, folder + "/theirs.safetensors", {"format": "pt"})
bits = torch.arange(65536, dtype=torch.int32).to(torch.int16).view(torch.float16)
words = torch.randint(-2**31, 2**31, (200000,), generator=torch.Generator().manual_seed(1), dtype=torch.int64).to(torch.int32).view(torch.float32)
words = words[~words.isnan()]
near = torch.cat([words, torch.randn(200000, generator=torch.Generator().manual_seed(2)) * 2e-6])
save_file({"widened": bits.float(), "float32": near, "brain": near.bfloat16(), "half": near.half()}, folder + "/floats.safetensors")
print(json.dumps({n: {k: [list(t.shape), t.double().sum().item()] for k, t in load_file(fixtures + "/" + n).items()} for n in names}))
`;

const findModules = "from importlib.util import find_spec; exit(not (find_spec('torch') and find_spec('safetensors')))";
const hasPython = spawnSync("python3", ["-c", findModules]).status === 0;
const needed = "(skipped without python3, torch and safetensors)";

/** Where two arrays first differ, -1 where nowhere; `toEqual` takes seconds for so many numbers. */
function firstDifference(ours: ArrayLike<number>, theirs: ArrayLike<number>): number {
  const length = Math.max(ours.length, theirs.length);
  for (let i = 0; i < length; i++) if (!Object.is(ours[i], theirs[i])) return i;
  return -1;
}

describe.skipIf(!hasPython)(`Python's safetensors ${needed}`, () => {
  let folder: string;
  let sums: Map<string, Record<string, [readonly number[], number]>>;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "parity-"));
    const names = (await readdir(fixtures)).filter((name) => name.endsWith(".safetensors"));
    const { status, stdout, stderr } = spawnSync("python3", ["-c", oracle, folder, fixtures, ...names], {
      encoding: "utf8",
    });
    if (status !== 0) throw new Error(`python3 failed: ${stderr}`);
    sums = new Map(Object.entries(JSON.parse(stdout)));
  });
  afterAll(() => rm(folder, { recursive: true }));

  it("gives the same file, byte for byte", async () => {
    const [ours, theirs] = [join(folder, "ours.safetensors"), join(folder, "theirs.safetensors")];
    const float = new Float32Array([0.1, -2.5, 3e38, 1e-40, 65_520, 1 / 3]);
    const tensors: Record<string, TensorData> = {
      "z.weight": { dtype: "F32", shape: [2, 3], data: float },
      "a.weight": { dtype: "F32", shape: [6], data: float },
      brain: { dtype: "BF16", shape: [3, 2], data: float },
      half: { dtype: "F16", shape: [6, 1], data: float },
      ids: { dtype: "I64", shape: [2], data: new BigInt64Array([-1n, 2n ** 40n]) },
      "10": { dtype: "I32", shape: [], data: new Int32Array([7]) },
      "9": { dtype: "U8", shape: [1], data: new Uint8Array([200]) },
      mask: { dtype: "BOOL", shape: [3], data: new Uint8Array([1, 0, 1]) },
      "naïve/\n": { dtype: "F64", shape: [0], data: new Float64Array(0) },
    };
    await writeSafetensors(ours, tensors, { format: "pt" });
    expect((await readFile(ours)).equals(await readFile(theirs))).toBe(true);
  });

  it("agrees on all float16 values and on the rounding of random float32 bits", async () => {
    const file = await openSafetensors(join(folder, "floats.safetensors"));
    const allBits = Uint16Array.from({ length: 65_536 }, (_, bits) => bits);
    expect(firstDifference(float16ToFloat32(allBits), await file.readFloat32("widened"))).toBe(-1);
    const values = await file.readFloat32("float32");
    expect(values.length).toBeGreaterThan(300_000);
    const { data: brain } = await file.read("brain");
    const { data: half } = await file.read("half");
    expect(firstDifference(float32ToBfloat16(values), brain as Uint16Array)).toBe(-1);
    expect(firstDifference(float32ToFloat16(values), half as Uint16Array)).toBe(-1);
    await file.close();
  });

  it("reads the same names, shapes and sums from every fixture", async () => {
    expect(sums.size).toBeGreaterThan(0);
    for (const [name, theirs] of sums) {
      const file = await openSafetensors(join(fixtures, name));
      expect([...file.tensors.keys()].toSorted()).toEqual(Object.keys(theirs).toSorted());
      for (const [key, { shape, dtype }] of file.tensors) {
        const [theirShape, theirSum] = theirs[key]!;
        const values = dtype.startsWith("F") ? await file.readFloat32(key) : await file.readInt32(key);
        let sum = 0;
        let magnitude = 0;
        for (const value of values) {
          sum += value;
          magnitude += Math.abs(value);
        }
        expect(shape).toEqual(theirShape);
        // The order of summation differs.
        expect(Math.abs(sum - theirSum)).toBeLessThanOrEqual(1e-12 * magnitude);
      }
      await file.close();
    }
  });
});
