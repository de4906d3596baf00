import { mkdir, mkdtemp, readdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Engine, startEngine } from "@dflash/engine";
import { createOps, type Ops } from "@dflash/ops";
import type { TargetHead } from "@dflash/target-forward";
import { createTimer } from "@dflash/timer";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { createDrafter } from "../model/createDrafter.ts";
import { adamW } from "../optimizer/adamW.ts";
import { clipByGlobalNorm } from "../optimizer/clipByGlobalNorm.ts";
import { readParameters, tinyBatch, tinyConfig, tinyHead, tinyTraining, trainOn } from "../tinyDrafter.test-support.ts";
import { createTrainStep } from "../training/trainStep.ts";
import { bestCheckpoint, checkpointFolders, listCheckpoints, pruneCheckpoints } from "./checkpoints.ts";
import { loadCheckpoint } from "./loadCheckpoint.ts";
import { loadDrafter } from "./loadDrafter.ts";
import { saveCheckpoint } from "./saveCheckpoint.ts";
import { verifyCheckpoint } from "./verifyCheckpoint.ts";

let engine: Engine;
let ops: Ops;
let head: TargetHead;
let dir: string;
let training: Awaited<ReturnType<typeof tinyTraining>>;
beforeAll(async () => {
  engine = await startEngine("wasm", { threads: 1 });
  ops = createOps(engine);
  head = await tinyHead(ops);
});
beforeEach(async () => {
  dir = join(await mkdtemp(join(tmpdir(), "drafter-")), "checkpoints");
  training = await tinyTraining(ops, head);
});
afterEach(async () => {
  training.dispose();
  await rm(join(dir, ".."), { recursive: true });
});
afterAll(() => engine.dispose());

const settings = { rate: 0.01, loss: { type: "decay", gamma: 2 }, name: undefined };

/** Saves the training as it is, as some step. */
const save = async (step: number, score: number | null = null): Promise<string> =>
  saveCheckpoint(dir, {
    step,
    score,
    settings,
    carried: { row: 7 },
    drafter: training.drafter,
    trainStep: training.step,
  });

async function trainSome(step: typeof training.step, indices: readonly number[]): Promise<(number | null)[]> {
  const losses: (number | null)[] = [];
  for (const index of indices) {
    const batch = await tinyBatch(ops, { index });
    losses.push((await trainOn(step, batch)).loss);
    batch.dispose();
  }
  return losses;
}

test("training that goes on from a checkpoint gives the same bits as one that never stopped", async () => {
  await trainSome(training.step, [0, 1, 2]);
  const folder = await save(3);
  const losses = await trainSome(training.step, [3, 4]);

  const loaded = await loadCheckpoint(folder, { settings });
  expect(loaded.state).toMatchObject({ step: 3, counters: { updates: 3, skippedInARow: 0 }, carried: { row: 7 } });
  expect(loaded.config).toEqual(tinyConfig);
  const timer = createTimer();
  const drafter = await createDrafter({ ops, config: loaded.config, weights: loaded.weights, timer });
  const optimizer = [clipByGlobalNorm({ ops }), adamW({ ops, learningRate: () => 0.01 })];
  const step = createTrainStep({ drafter, head, ops, timer, optimizer, anchorsPerRow: 4, seed: 1 });
  await step.restore(loaded.state.counters, loaded.optimizerState);
  await loaded.close();

  expect(await trainSome(step, [3, 4])).toEqual(losses);
  expect(await readParameters(drafter)).toEqual(await readParameters(training.drafter));
  for (const part of [drafter, step]) part.dispose();
});

test("a checkpoint is a drafter too, with its weights as they are", async () => {
  await trainSome(training.step, [0]);
  const drafter = await loadDrafter(await save(1), { ops, timer: createTimer() });
  expect(await readParameters(drafter)).toEqual(await readParameters(training.drafter));
  drafter.dispose();
});

test("a checkpoint from other settings is refused by the field's name", async () => {
  const folder = await save(1);
  await expect(loadCheckpoint(folder, { settings: { ...settings, rate: 0.02 } })).rejects.toThrow(
    `${folder}: was trained with rate 0.01, not 0.02; go on with the same, or start a new run from its weights`,
  );
  const other = { ...settings, loss: { type: "decay", gamma: 3 } };
  await expect(loadCheckpoint(folder, { settings: other })).rejects.toThrow("was trained with loss.gamma 2, not 3;");
  await expect(loadCheckpoint(folder, { settings: { ...settings, extra: 1 } })).rejects.toThrow(
    "was trained with extra (none), not 1;",
  );
});

test("the newest ones and the best are kept, and leftovers of killed processes go", async () => {
  for (const [step, score] of [
    [10, 1.5],
    [20, 2.5],
    [30, 2],
    [40, null],
    [50, 2.25],
  ] as const)
    await save(step, score);
  await mkdir(join(dir, ".step-00000060.0123456789ab.tmp"));
  await mkdir(join(dir, ".step-00000005.deleted"));
  await pruneCheckpoints(dir, 2);
  expect(await readdir(dir)).toEqual(["step-00000020", "step-00000040", "step-00000050"]);
  const checkpoints = await listCheckpoints(dir);
  expect(checkpoints.map(({ state }) => state.step)).toEqual([20, 40, 50]);
  expect(bestCheckpoint(checkpoints)!.folder).toBe(join(dir, "step-00000020"));
});

test("of equal scores the newest is the best; without scores none is", async () => {
  for (const step of [1, 2]) await save(step, 3);
  expect(bestCheckpoint(await listCheckpoints(dir))!.state.step).toBe(2);
  expect(bestCheckpoint([])).toBeUndefined();
  expect(await listCheckpoints(join(dir, "none"))).toEqual([]);
});

test("a checkpoint that stands is left as it is", async () => {
  const folder = await save(1, 1);
  await trainSome(training.step, [0]);
  expect(await save(1, 2)).toBe(folder);
  expect((await listCheckpoints(dir))[0]!.state).toMatchObject({ score: 1, counters: { updates: 0 } });
});

test("a save that fails leaves nothing", async () => {
  await writeFile(join(dir, "..", "file"), "");
  dir = join(dir, "..", "file", "below");
  await expect(save(1)).rejects.toThrow(`${dir}/step-00000001: the checkpoint cannot be saved (ENOTDIR`);
  dir = join(dir, "..", "..", "checkpoints");
  training.step.dispose();
  await expect(save(1)).rejects.toThrow("was disposed");
  expect(await readdir(dir)).toEqual([]);
});

test("a flipped bit is found, and a damaged checkpoint is left out and left alone where that is asked for", async () => {
  const folders = [await save(1), await save(2), await save(3)];
  expect(await verifyCheckpoint(folders[1]!)).toMatchObject({ folder: folders[1], state: { step: 2 } });
  for (const name of ["model.safetensors", "optimizer.safetensors", "config.json"]) {
    const path = join(folders[1]!, name);
    const bytes = await readFile(path);
    const flipped = Buffer.from(bytes);
    // White space in JSON.
    const at = name === "config.json" ? bytes.indexOf("\n") : bytes.length - 1;
    flipped[at] = name === "config.json" ? 0x20 : flipped[at]! ^ 1;
    await writeFile(path, flipped);
    await expect(verifyCheckpoint(folders[1]!)).rejects.toThrow(/: its checksum is [\da-f]{8}, not [\da-f]{8} as when/);
    await writeFile(path, bytes);
  }
  await truncate(join(folders[0]!, "training.json"), 20);
  await expect(verifyCheckpoint(folders[0]!)).rejects.toThrow("training.json: not JSON (");
  const damaged: string[] = [];
  const found = await listCheckpoints(dir, { onDamaged: (problem) => damaged.push(problem) });
  expect([found.map(({ folder }) => folder), damaged.length]).toEqual([folders.slice(1), 1]);
  await pruneCheckpoints(dir, 1);
  expect(await checkpointFolders(dir)).toEqual([folders[0], folders[2]]);
});

test("damage is named with its file", async () => {
  const folder = await save(1);
  const file = (name: string): string => join(folder, name);
  await truncate(file("optimizer.safetensors"), 5000);
  await expect(loadCheckpoint(folder, { settings })).rejects.toThrow(`${file("optimizer.safetensors")}: `);
  await truncate(file("training.json"), 20);
  await expect(listCheckpoints(dir)).rejects.toThrow(`${file("training.json")}: not JSON (`);
  await writeFile(file("training.json"), '{"version": 2}');
  await expect(listCheckpoints(dir)).rejects.toThrow(
    `${file("training.json")}: counters is missing, expected an object`,
  );
  await writeFile(file("training.json"), '{"version": 2, "counters": {}}');
  await expect(listCheckpoints(dir)).rejects.toThrow(`${file("training.json")}: version is 2, expected 1`);
});
