import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Engine, startEngine } from "@dflash/engine";
import { createOps, type Ops } from "@dflash/ops";
import {
  bfloat16ToFloat32,
  float32ToBfloat16,
  openCheckpoint,
  openSafetensors,
  writeSafetensors,
} from "@dflash/safetensors";
import { createTimer } from "@dflash/timer";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { DFlashDrafter } from "../model/createDrafter.ts";
import type { WeightSource } from "../model/randomWeights.ts";
import { tinyConfig, tinyDrafter } from "../tinyDrafter.test-support.ts";
import { loadDrafter } from "./loadDrafter.ts";
import { saveDrafter } from "./saveDrafter.ts";

let engine: Engine;
let ops: Ops;
let drafter: DFlashDrafter;
let dir: string;
beforeAll(async () => {
  engine = await startEngine("cpu");
  ops = createOps(engine);
  drafter = await tinyDrafter(ops);
});
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "drafter-"));
  await saveDrafter(dir, drafter);
});
afterEach(async () => rm(dir, { recursive: true }));
afterAll(() => engine.dispose());

const load = async (): Promise<DFlashDrafter> => loadDrafter(dir, { ops, timer: createTimer() });

test("writes the published tensors without a prefix, in bfloat16, and nothing else", async () => {
  const file = await openSafetensors(join(dir, "model.safetensors"));
  // Two layers: 3 + 11 · 2, as 58 are 3 + 11 · 5.
  expect(file.tensors.size).toBe(25);
  for (const [name, shape] of [
    ["fc.weight", [16, 48]],
    ["layers.0.self_attn.q_proj.weight", [32, 16]],
    ["layers.1.self_attn.k_norm.weight", [8]],
    ["layers.1.mlp.down_proj.weight", [16, 24]],
    ["norm.weight", [16]],
  ] as const) {
    expect(file.tensors.get(name)).toMatchObject({ dtype: "BF16", shape });
  }
  expect(file.metadata).toEqual({ format: "pt" });
  await file.close();
  expect(await readdir(dir)).toEqual(["config.json", "model.safetensors"]);
});

test("loads float32 weights bit for bit", async () => {
  await saveDrafter(dir, drafter, { weights: "F32" });
  expect(JSON.parse(await readFile(join(dir, "config.json"), "utf8"))).toMatchObject({ dtype: "float32" });
  const loaded = await load();
  for (const [name, tensor] of drafter.parameters)
    expect(await loaded.parameters.get(name)!.read()).toEqual(await tensor.read());
  loaded.dispose();
});

test("loads what it saved, rounded to bfloat16", async () => {
  const loaded = await load();
  expect(loaded.config).toEqual(tinyConfig);
  for (const [name, tensor] of drafter.parameters) {
    const values = Float32Array.from(await tensor.read());
    expect(await loaded.parameters.get(name)!.read()).toEqual(bfloat16ToFloat32(float32ToBfloat16(values)));
  }
  loaded.dispose();
});

test("a drafter that PyTorch trained and saved comes out as it went in", async () => {
  const published = fileURLToPath(new URL("../../../../fixtures/drafter-b8", import.meta.url));
  const loaded = await loadDrafter(published, { ops, timer: createTimer() });
  await saveDrafter(dir, loaded);
  const [original, saved] = [await openCheckpoint(published), await openCheckpoint(dir)];
  expect([...saved.tensors.keys()].toSorted()).toEqual([...original.tensors.keys()].toSorted());
  for (const [name, { dtype, shape }] of original.tensors) {
    expect(saved.tensors.get(name)).toMatchObject({ dtype, shape });
    const [before, after] = [(await original.read(name)).data, (await saved.read(name)).data];
    expect([name, Buffer.from(after.buffer).equals(Buffer.from(before.buffer))]).toEqual([name, true]);
  }
  for (const file of [original, saved]) await file.close();
  loaded.dispose();
});

test("saving again replaces what stood there", async () => {
  const other = await tinyDrafter(ops, {
    weights: (_, shape) => new Float32Array(shape.reduce((a, b) => a * b)).fill(0.5),
  });
  await saveDrafter(dir, other);
  const loaded = await load();
  expect((await loaded.parameters.get("fc.weight")!.read()).every((value) => value === 0.5)).toBe(true);
  for (const part of [other, loaded]) part.dispose();
});

test.each([
  [
    "a tensor of another shape",
    { "norm.weight": [8] },
    "tensor norm.weight is of shape [8], expected [16] by config.json",
  ],
  ["a missing tensor", { "fc.weight": null }, "tensor fc.weight is missing, expected [16, 48] by config.json"],
  [
    "a tensor of another kind of drafter",
    { "markov.weight": [2] },
    "tensor markov.weight is not part of a DFlash drafter",
  ],
])("refuses %s by name, and keeps no tensor", async (_, changes: Record<string, number[] | null>, message) => {
  const shapes = new Map<string, readonly number[] | null>(
    [...drafter.parameters].map(([name, { shape }]) => [name, shape]),
  );
  for (const [name, shape] of Object.entries(changes)) shapes.set(name, shape);
  const tensors = [...shapes].flatMap(([name, shape]) =>
    shape === null
      ? []
      : [[name, { dtype: "F32" as const, shape, data: new Float32Array(shape.reduce((a, b) => a * b)) }] as const],
  );
  await writeSafetensors(join(dir, "model.safetensors"), Object.fromEntries(tensors));
  const before = engine.memory().tensors;
  await expect(load()).rejects.toThrow(message);
  expect(engine.memory().tensors).toBe(before);
});

test("a NaN or an infinity is refused by tensor and file, and no tensor is kept", async () => {
  const path = join(dir, "model.safetensors");
  for (const value of [NaN, Infinity]) {
    const weights: WeightSource = (name, shape) => {
      const values = new Float32Array(shape.reduce((a, b) => a * b));
      return name === "layers.1.mlp.down_proj.weight" ? values.fill(value, 7, 9) : values;
    };
    const broken = await tinyDrafter(ops, { weights });
    await saveDrafter(dir, broken);
    const before = engine.memory().tensors;
    await expect(load()).rejects.toThrow(
      `${path}: tensor layers.1.mlp.down_proj.weight holds ${value} at element 7, expected finite numbers; export the drafter again, or take an earlier checkpoint`,
    );
    expect(engine.memory().tensors).toBe(before);
    broken.dispose();
  }
});

test("a config that is missing, cut short or wrong is named with its file", async () => {
  const path = join(dir, "config.json");
  const text = await readFile(path, "utf8");
  await writeFile(path, text.slice(0, 40));
  await expect(load()).rejects.toThrow(`${path}: not JSON (`);
  await writeFile(path, text.replace('"head_dim": 8', '"head_dim": 7'));
  await expect(load()).rejects.toThrow(`${path}: head_dim is 7, expected an even number`);
  await rm(path);
  await expect(load()).rejects.toThrow(`${path}: cannot be read (`);
});
